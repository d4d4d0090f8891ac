// The goal: which world the job should run, given the wish and the pods.
#ifndef OPERATOR_RECONCILE_GOAL_H_
#define OPERATOR_RECONCILE_GOAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/reconcile/round.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::control {

struct Goal {
  std::vector<uint32_t> members;  // in rank order, until they are reordered
  vps::AxisSizes layout;
  std::string reason;  // why this layout
  std::string cause;   // start, drain, scale-up, scale-down, layout, replace
};

// The world to go to now; nullopt if the running one is right or nothing can be
// done yet (then round.shortage says why, and the round looks again when time
// alone will change the answer).
//
// Who stays keeps its place in the order, joiners come after. Too many: the
// highest serials go. Joiners that are ready wait scaleUpDelay for those
// that are not, but a drain waits for nobody. Fewer than minReplicas train only
// if a drain would otherwise lose state.
// REQUIRES: no member is gone; round.next.target_replicas is resolved.
std::optional<Goal> PickGoal(Round& round);

// Why the transition that is Planned should not go on: the wish or the pods
// have changed. "" if it should.
std::string WhyNotWanted(const Round& round);

// Writes `goal` as the Planned transition into round.next, its members in the
// order that keeps most (rank_order.h). False if it failed a
// short while ago: then the round looks again later.
bool PlanTransition(Round& round, const Goal& goal);

// Notes that the transition in round.next failed: the same goal is not tried
// again at once.
void NoteFailure(Round& round);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_GOAL_H_
