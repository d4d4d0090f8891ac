#include "transition/schedule/collective_options.h"

#include <limits>

#include "absl/numeric/int128.h"
#include "base/status_macros.h"
#include "transition/schedule/check_range.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

Fingerprint CollectiveOptions::Digest() const {
  Fingerprinter digest;
  digest.Append("collective options")
      .Append(min_ranks)
      .Append(min_bytes)
      .Append(min_slot_bytes)
      .Append(max_slot_bytes)
      .Append(max_staging_bytes)
      .Append(max_ranks)
      .Append(max_parcels);
  return digest.Finish();
}

absl::Status CheckCollectiveOptions(const CollectiveOptions& options) {
  const auto check = [](const char* field, int64_t value, int64_t min,
                        int64_t max) {
    return CheckRange("collective", field, value, min, max);
  };
  RETURN_IF_ERROR(check("min_ranks", options.min_ranks, 3,
                        std::numeric_limits<int>::max()));
  RETURN_IF_ERROR(check("min_bytes", options.min_bytes, 0, kMaxTrafficBytes));
  RETURN_IF_ERROR(check("max_slot_bytes", options.max_slot_bytes, kMinSlotBytes,
                        kMaxTrafficBytes));
  RETURN_IF_ERROR(check("min_slot_bytes", options.min_slot_bytes, kMinSlotBytes,
                        options.max_slot_bytes));
  RETURN_IF_ERROR(check("max_staging_bytes", options.max_staging_bytes, 0,
                        kMaxTrafficBytes));
  RETURN_IF_ERROR(check("max_ranks", options.max_ranks, 0, 1 << 16));
  return check("max_parcels", options.max_parcels, 1, 1 << 30);
}

int64_t PipelineSlot(int64_t bytes, int64_t bytes_per_second,
                     int64_t per_slot_ns, int hops,
                     const CollectiveOptions& options) {
  // Integer square root by bisection on the bounds of a slot.
  const absl::uint128 square =
      absl::uint128(bytes) * absl::uint128(per_slot_ns) *
      absl::uint128(bytes_per_second) / (absl::uint128(hops) * 1'000'000'000);
  int64_t below = options.min_slot_bytes;
  int64_t above = options.max_slot_bytes;
  while (below < above) {
    const int64_t middle = below + (above - below + 1) / 2;
    if (absl::uint128(middle) * absl::uint128(middle) <= square) {
      below = middle;
    } else {
      above = middle - 1;
    }
  }
  return below;
}

}  // namespace dynatrain::transition
