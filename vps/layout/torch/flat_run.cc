#include "vps/layout/torch/flat_run.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps {
namespace {

absl::Status TooLarge() {
  return absl::InvalidArgumentError(
      "a flat parameter's number of elements does not fit 63 bits");
}

}  // namespace

absl::StatusOr<FlatRun> LayFlatParameter(absl::Span<const int64_t> elements,
                                         int64_t alignment, int64_t ranks) {
  FlatRun run;
  std::optional<int64_t> total = 0;
  for (int64_t count : elements) {
    if (alignment > 0) total = CheckedRoundUp(*total, alignment);
    if (!total.has_value()) return TooLarge();
    run.positions.push_back(*total);
    total = CheckedAdd(*total, count);
    if (!total.has_value()) return TooLarge();
  }
  total = CheckedRoundUp(
      *total, ranks);  // ceil(total / ranks), with or without padding
  if (!total.has_value()) return TooLarge();
  if (*total == 0) {
    return absl::InvalidArgumentError("a flat parameter without elements");
  }
  run.shard = *total / ranks;
  return run;
}

}  // namespace dynatrain::vps
