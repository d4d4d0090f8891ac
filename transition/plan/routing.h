// Routing: which rank sends which box to which. The rules, in this order:
//   1. A target keeps what its own process holds.
//   2. Of several copies, one that some rank of its member has, else the
//      authoritative one.
//   3. The rest comes from holders in the same member, if there are any,
//   4. else from all holders, in equal parts (Stripe).
// Law: the regions that reach a target rank tile its boxes exactly.
#ifndef TRANSITION_PLAN_ROUTING_H_
#define TRANSITION_PLAN_ROUTING_H_

#include "absl/functional/function_ref.h"
#include "transition/plan/demand.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/route.h"

namespace dynatrain::transition {

using RouteVisitor = absl::FunctionRef<void(const Route&)>;

// The one of its senders that serves all of a demand for `tensor`, by index; -1
// if several share it.
int OnlyPartOf(const PlanInput& input, const Demand& demand, int tensor);

// The route that serves all of the demand from its sender of that index.
Route WholeRoute(const Demand& demand, int sender, int tensor);

// The routes that serve a demand for `tensor`: one per sender at most.
void ForEachRouteOf(const PlanInput& input, const Demand& demand, int tensor,
                    RouteVisitor visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_ROUTING_H_
