#include "base/nearest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace dynatrain {

int EditDistance(absl::string_view a, absl::string_view b) {
  // Rows of the usual table: two back, one back, this one.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1,
                         last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> Nearest(absl::string_view word,
                                   absl::Span<const std::string> known) {
  // Longer words are no typing errors, and the table would be large.
  constexpr size_t kLongest = 128;
  if (word.size() > kLongest) return std::nullopt;
  const std::string lower = absl::AsciiStrToLower(word);
  std::optional<std::string> nearest;
  int smallest = 0;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongest) continue;
    const std::string other = absl::AsciiStrToLower(candidate);
    int distance = EditDistance(lower, other);
    if (lower.size() >= 2 && absl::StartsWith(other, lower)) {
      distance = std::min(distance, 1);
    }
    const int most = std::max<int>(1, std::max(lower.size(), other.size()) / 3);
    if (distance > most) continue;
    if (nearest.has_value() && distance >= smallest) continue;
    nearest = candidate;
    smallest = distance;
  }
  return nearest;
}

std::string DidYouMean(absl::string_view word,
                       absl::Span<const std::string> known) {
  const std::optional<std::string> nearest = Nearest(word, known);
  return nearest.has_value() ? absl::StrCat("; did you mean ", *nearest, "?")
                             : "";
}

}  // namespace dynatrain
