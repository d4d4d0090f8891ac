#include "transition/transport/transport.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {

absl::StatusOr<size_t> StagingBudget::PerDirection(size_t num_links) const {
  if (num_links == 0) return per_direction_bytes;
  const size_t share = std::bit_floor(
      std::min(per_direction_bytes, total_bytes / (2 * num_links)));
  if (share >= kMinStagingBytes) return share;
  return absl::ResourceExhaustedError(
      absl::StrCat("staging_bytes is ", total_bytes, "; ", num_links,
                   " peers need at least ", 2 * num_links * kMinStagingBytes));
}

}  // namespace dynatrain::transition
