// Routing: which rank sends which box to which. Rank-local: a rank's part is
// computed from the layouts alone, for what it holds or needs, without looking
// at the rest of the world and without a message.
//
// The rules, in this order:
//   1. A target keeps what its own process holds.
//   2. The rest comes from holders in the same member, if there are any,
//   3. else from all holders, in equal parts: large regions are cut among
//      them, small ones take turns (Stripe).
// Law: the regions that reach a target rank tile its boxes exactly.
#ifndef TRANSITION_PLAN_ROUTING_H_
#define TRANSITION_PLAN_ROUTING_H_

#include "absl/functional/function_ref.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/route.h"

namespace dynatrain::transition {

using RouteVisitor = absl::FunctionRef<void(const Route&)>;

// All routes of `tensor` that end at `target_rank`, kept ones too.
// REQUIRES: the source world is not empty, the indices are valid.
void ForEachRouteTo(const PlanInput& input, int target_rank, int tensor,
                    RouteVisitor visit);

// All routes of `tensor` that start at `source_rank`, kept ones too: exactly
// those that ForEachRouteTo gives to the ranks of the target world.
// REQUIRES: as above.
void ForEachRouteFrom(const PlanInput& input, int source_rank, int tensor,
                      RouteVisitor visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_ROUTING_H_
