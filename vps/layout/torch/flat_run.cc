#include "vps/layout/torch/flat_run.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps {

absl::StatusOr<FlatRun> LayEndToEnd(absl::Span<const int64_t> elements,
                                    int64_t alignment, int64_t multiple,
                                    int64_t ranks) {
  FlatRun run;
  std::optional<int64_t> end = 0;
  for (int64_t count : elements) {
    end = CheckedRoundUp(*end, alignment);
    if (!end.has_value()) break;
    run.positions.push_back(*end);
    end = CheckedAdd(*end, count);
    if (!end.has_value()) break;
  }
  if (end.has_value()) end = CheckedRoundUp(*end, multiple);
  if (!end.has_value()) {
    return absl::InvalidArgumentError("the elements do not fit 63 bits");
  }
  if (*end == 0) return absl::InvalidArgumentError("there are no elements");
  run.shard = *end / ranks;
  return run;
}

absl::StatusOr<FlatRun> LayFlatParameter(absl::Span<const int64_t> elements,
                                         int64_t alignment, int64_t ranks) {
  // The padding to `ranks` is there either way: chunks are ceil(total / ranks).
  return LayEndToEnd(elements, std::max<int64_t>(alignment, 1), ranks, ranks);
}

}  // namespace dynatrain::vps
