// The moves of a plan, for the operator, tools and tests that look at the whole
// world. Ranks are union indices (PlanInput::num_processes).
#ifndef TRANSITION_SCHEDULE_PLAN_MOVES_H_
#define TRANSITION_SCHEDULE_PLAN_MOVES_H_

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"
#include "transition/schedule/moves.h"

namespace dynatrain::transition {

// The union of all processes' plans, each move once, without blobs. Returns
// what PlanForProcess and Moves::Create return.
absl::StatusOr<Moves> MovesOf(const PlanInput& input);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PLAN_MOVES_H_
