// Collectives in a plan of stages: plans are cut into stages first, then
// collectives are looked for in the moves of each stage. What ranks hold for
// others meanwhile counts in the stage's peak.
//
//   const TransferPlan transfer = *PlanTransfer(
//       plan.stages[i].moves, cluster,
//       {.collectives = {.max_staging_bytes = RelayRoom(plan, i)}});
//   if (transfer.ns < transfer.plain_ns && UseMoves(transfer.moves, i, plan))
//     schedules.push_back(transfer.Schedules());
#ifndef TRANSITION_STAGE_STAGE_COLLECTIVES_H_
#define TRANSITION_STAGE_STAGE_COLLECTIVES_H_

#include <cstdint>
#include <vector>

#include "transition/schedule/moves.h"
#include "transition/stage/stage_plan.h"

namespace dynatrain::transition {

// By rank, what it passes on and doesn't keep: in buffers while all of the
// moves run.
std::vector<int64_t> RelayedBytes(const Moves& moves);

// What every rank may hold for others in the stage beside what it has and what
// it packs, even if all that moves goes by way of it. 0 if there is no room for
// that: then chains of ranks that keep what they pass on may still fit.
int64_t RelayRoom(const StagePlan& plan, int stage);

// Puts `moves` in place of those of the stage; peaks grow by what is relayed
// and by what relaying ranks pack. Returns false, and leaves the plan as it is,
// if a rank would have more than it is allowed. REQUIRES: they bring the same
// bytes to the same ranks.
[[nodiscard]] bool UseMoves(Moves moves, int stage, StagePlan& plan);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_STAGE_COLLECTIVES_H_
