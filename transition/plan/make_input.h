// MakePlanInput: the input of a plan that is carried out, or shown as what
// would be. Whoever makes such a plan makes it here, so that the operator's
// tool shows what a job does, and all ranks do the same.
//
//   ASSIGN_OR_RETURN(const MadeInput made, MakePlanInput(source, target));
//   ASSIGN_OR_RETURN(ProcessPlan plan, PlanForProcess(made.input, process_id));
#ifndef TRANSITION_PLAN_MAKE_INPUT_H_
#define TRANSITION_PLAN_MAKE_INPUT_H_

#include "absl/status/statusor.h"
#include "transition/plan/balance_senders.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/regenerate.h"
#include "transition/plan/world.h"

namespace dynatrain::transition {

struct InputOptions {
  PlanOptions plan;
  // By default no weight is regenerated.
  RegenerateOptions weights;
  BalanceOptions balance;
};

struct MadeInput {
  PlanInput input;
  Regeneration weights;
  SenderBalance balance;
};

// Weights that are to be made anew are chosen, then senders are balanced: what
// is left out of the plan is no load. What was chosen is in the agreement
// (PlanInput::AgreementDigest). Returns what PlanInput::Create returns.
absl::StatusOr<MadeInput> MakePlanInput(World source, World target,
                                        const InputOptions& options = {});

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_MAKE_INPUT_H_
