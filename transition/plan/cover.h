// That routes give a rank all it needs and nothing twice. Independent of how
// the routes were found, and cheap enough to run on every plan that is
// executed.
#ifndef TRANSITION_PLAN_COVER_H_
#define TRANSITION_PLAN_COVER_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/route.h"

namespace dynatrain::transition {

// OK if `routes` and `zeros` tile exactly what `target_rank` holds in the
// target world, each route's region lies within one that its source rank holds
// in the source world, and what becomes zero is in no source. Otherwise
// kFailedPrecondition naming the tensor and the region. They may come in any
// order. REQUIRES: the source world is not empty.
absl::Status CheckCover(const PlanInput& input, int target_rank,
                        absl::Span<const Route> routes,
                        absl::Span<const ZeroRegion> zeros = {});

// CheckCover of all that a process keeps, receives and zeroes; OK if it leaves
// or the source world is empty.
absl::Status CheckCover(const PlanInput& input, const ProcessPlan& plan);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_COVER_H_
