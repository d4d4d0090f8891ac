#include "base/ranges_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace dynatrain {
namespace {

// The index behind the longest run of equal steps that begins at `begin`.
size_t EndOfRun(absl::Span<const int> numbers, size_t begin) {
  if (begin + 1 >= numbers.size()) return numbers.size();
  const int step = numbers[begin + 1] - numbers[begin];
  size_t end = begin + 2;
  while (end < numbers.size() && numbers[end] - numbers[end - 1] == step) ++end;
  return end;
}

// `text` is all of `part` or one end of it.
absl::StatusOr<int> ParseOne(absl::string_view text, absl::string_view part,
                             int count) {
  int number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 0 || number >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\"",
                     text == part ? "" : absl::StrCat(" in \"", part, "\""),
                     " is not a number in 0..", count - 1));
  }
  return number;
}

}  // namespace

std::string RangesText(absl::Span<const int> numbers, int most,
                       std::optional<size_t> in_all) {
  if (numbers.empty()) return "none";
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < numbers.size() && parts.size() < most) {
    const size_t end = EndOfRun(numbers, begin);
    const bool consecutive =
        end - begin >= 2 && numbers[begin + 1] == numbers[begin] + 1;
    if (consecutive) {
      parts.push_back(absl::StrCat(numbers[begin], "-", numbers[end - 1]));
      begin = end;
    } else if (end - begin >= 5) {
      parts.push_back(absl::StrCat(numbers[begin], ", ", numbers[begin + 1],
                                   " .. ", numbers[end - 1]));
      begin = end;
    } else {
      parts.push_back(absl::StrCat(numbers[begin++]));
    }
  }
  const size_t all = in_all.value_or(numbers.size());
  if (begin < all) parts.push_back(absl::StrCat("... (", all, " in all)"));
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<std::vector<int>> ParseRanges(absl::string_view text,
                                             int count) {
  std::vector<bool> chosen(count);
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    ASSIGN_OR_RETURN(const int first, ParseOne(ends.first, part, count));
    int last = first;
    if (absl::StrContains(part, '-')) {
      ASSIGN_OR_RETURN(last, ParseOne(ends.second, part, count));
    }
    if (last < first) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", part, "\" ends before it begins"));
    }
    std::fill(chosen.begin() + first, chosen.begin() + last + 1, true);
  }
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) {
    if (chosen[i]) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace dynatrain
