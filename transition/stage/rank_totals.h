// What of its memory each rank keeps, gives back and takes over a whole
// transition: sums of which peaks are bounded.
#ifndef TRANSITION_STAGE_RANK_TOTALS_H_
#define TRANSITION_STAGE_RANK_TOTALS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/schedule/moves.h"
#include "transition/stage/lines.h"
#include "transition/stage/stage_plan.h"
#include "transition/stage/world_memory.h"

namespace dynatrain::transition {

struct RankTotals {
  int64_t source_bytes = 0;  // adopted + unused + freed
  int64_t target_bytes = 0;  // adopted + made + zero
  int64_t adopted_bytes = 0;
  int64_t unused_bytes = 0;  // of the source, read by nobody
  int64_t freed_bytes = 0;   // of the source, given back once it was read
  int64_t made_bytes = 0;    // of the target, written by moves
  int64_t zero_bytes = 0;    // of the target, without a source
  int64_t sent_bytes = 0;    // to other ranks
  int64_t received_bytes = 0;
  int64_t relayed_bytes = 0;  // of those, through staging memory
  // Over the lines, by how much a unit of each may put off: twice the resident
  // bytes and what a part makes; twice what it relays; what it sends and
  // receives.
  int64_t memory_weight = 0;
  int64_t relay_weight = 0;
  int64_t port_weight = 0;
};

// By rank. Returns kInvalidArgument naming the rank whose memory does not fit
// the moves (PlanStages).
absl::StatusOr<std::vector<RankTotals>> TotalsOf(const Moves& moves,
                                                 const Lines& lines,
                                                 const WorldMemory& memory);

// The source pieces that no move reads and that are not adopted, in boxes;
// ascending by rank, then in the order of the memory.
std::vector<RankPiece> UnusedPieces(const Moves& moves,
                                    const WorldMemory& memory);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_RANK_TOTALS_H_
