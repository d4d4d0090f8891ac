#include "transition/plan/make_input.h"

#include <utility>

#include "base/status_macros.h"

namespace dynatrain::transition {

absl::StatusOr<MadeInput> MakePlanInput(World source, World target,
                                        const InputOptions& options) {
  ASSIGN_OR_RETURN(
      PlanInput input,
      PlanInput::Create(std::move(source), std::move(target), options.plan));
  Regeneration weights = ChooseRegenerated(input, options.weights);
  ASSIGN_OR_RETURN(input, input.WithRegenerated(weights.weights));
  SenderBalance balance;
  input = BalanceSenders(input, options.balance, &balance);
  return MadeInput{std::move(input), std::move(weights), balance};
}

}  // namespace dynatrain::transition
