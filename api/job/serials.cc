#include "api/job/serials.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dynatrain::api {
namespace {

constexpr size_t kMostSerials = 65536;

bool IsNumber(absl::string_view text, uint32_t* value) {
  // SimpleAtoi also takes blanks and signs.
  return !text.empty() &&
         text.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(text, value);
}

// False if `piece` is neither "3" nor "3-5".
bool ParseRange(absl::string_view piece, uint32_t* first, uint32_t* last) {
  const std::vector<absl::string_view> ends = absl::StrSplit(piece, '-');
  if (ends.size() > 2 || !IsNumber(ends[0], first)) return false;
  *last = *first;
  return ends.size() == 1 || (IsNumber(ends[1], last) && *first < *last);
}

absl::Status Malformed(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "serials \"", text, "\": ", why, "; right would be like \"0-2,5\""));
}

}  // namespace

std::string FormatSerials(const std::vector<uint32_t>& serials) {
  std::string text;
  for (size_t i = 0; i < serials.size();) {
    size_t end = i + 1;
    while (end < serials.size() && serials[end] == serials[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ",", serials[i]);
    if (end - i > 1) absl::StrAppend(&text, "-", serials[end - 1]);
    i = end;
  }
  return text;
}

absl::StatusOr<std::vector<uint32_t>> ParseSerials(absl::string_view text) {
  std::vector<uint32_t> serials;
  if (text.empty()) return serials;
  std::set<uint32_t> seen;
  for (const absl::string_view piece : absl::StrSplit(text, ',')) {
    uint32_t first = 0;
    uint32_t last = 0;
    if (!ParseRange(piece, &first, &last)) {
      return Malformed(text, absl::StrCat("\"", piece, "\" is no range"));
    }
    if (uint64_t{last} - first + serials.size() >= kMostSerials) {
      return Malformed(text, absl::StrCat("more than ", kMostSerials));
    }
    for (uint64_t serial = first; serial <= last; ++serial) {
      if (!seen.insert(serial).second) {
        return Malformed(text, absl::StrCat(serial, " is there twice"));
      }
      serials.push_back(serial);
    }
  }
  return serials;
}

}  // namespace dynatrain::api
