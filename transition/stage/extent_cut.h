// The cut with which memory that is given back by extents suffices, from the
// theorem in docs/design/0004-stages.md.
#ifndef TRANSITION_STAGE_EXTENT_CUT_H_
#define TRANSITION_STAGE_EXTENT_CUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "transition/stage/line_cut.h"
#include "transition/stage/rank_totals.h"
#include "transition/stage/stage_plan.h"

namespace dynatrain::transition {

// What a rank has at its fullest beside what is in flight, and what is in
// flight of a whole transition.
struct RankNeed {
  int64_t base_bytes = 0;  // resident, between parts
  int64_t held_bytes = 0;  // twice, while a part is in flight, or relayed
  int64_t held_weight = 0;
  int64_t port_bytes = 0;  // packed and unpacked, if all parts were one
  int64_t port_weight = 0;
  int64_t slot_bytes = 0;  // what that takes at most, beyond dead memory
  int64_t dead_bytes = 0;

  // The fewest parts with which the rank stays within `allowed_bytes`; nullopt
  // if none do.
  std::optional<int64_t> Parts(int64_t allowed_bytes, int64_t unit_bytes) const;
  // The least allowed_bytes with which Parts finds some.
  int64_t LeastBytes(int64_t unit_bytes) const;
};

RankNeed TightNeed(const RankTotals& totals, int64_t port_staging_bytes,
                   int64_t dead_bytes);
RankNeed SafeNeed(const RankTotals& totals, int64_t port_staging_bytes,
                  int64_t dead_bytes);

// The cut of the fewest parts, up to an eighth more where that saves cutting
// inside rows; nullopt if some rank's need is above what it is allowed.
// `item_bytes`: of the largest element.
std::optional<LineCut> CutFor(absl::Span<const RankNeed> needs,
                              absl::Span<const int64_t> allowed_bytes,
                              int64_t item_bytes);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_EXTENT_CUT_H_
