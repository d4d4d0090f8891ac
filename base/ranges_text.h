// Lists of numbers as people write them: ranks, layers, experts.
#ifndef BASE_RANGES_TEXT_H_
#define BASE_RANGES_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dynatrain {

// Runs are joined, regular steps shown by their first two and their last:
//   {0, 1, 2, 3, 8} -> "0-3, 8";  {0, 4, 8, 12, 16} -> "0, 4 .. 16"
//   {} -> "none"
// After `most` runs, or if `numbers` are but the first of `in_all`, comes
// ", ... (N in all)".
// REQUIRES: `numbers` ascend.
std::string RangesText(absl::Span<const int> numbers, int most = 8,
                       std::optional<size_t> in_all = std::nullopt);

// "0-3,8" -> {0, 1, 2, 3, 8}, ascending and each once. Returns
// kInvalidArgument naming the part that is no number or range, or lies outside
// [0, count).
absl::StatusOr<std::vector<int>> ParseRanges(absl::string_view text, int count);

}  // namespace dynatrain

#endif  // BASE_RANGES_TEXT_H_
