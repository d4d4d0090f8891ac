// What the two layouts of a plan say, and not what the planner made of it: the
// claims to check its programs against.
#ifndef TRANSITION_CHECK_PLAN_CLAIMS_H_
#define TRANSITION_CHECK_PLAN_CLAIMS_H_

#include "transition/check/claims.h"
#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

// Ranks are union indices (PlanInput::num_processes), tensors the input's. The
// digest is the agreement's; no rank has a limit. Weights that are made anew
// from their masters (plan/regenerate.h) are not claimed: the runtime does that
// after the programs have ended. REQUIRES: the source world is not empty.
Claims ClaimsOf(const PlanInput& input);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_PLAN_CLAIMS_H_
