// Ours: what transition/plan plans. Each element once, straight from where it
// lies to where it is needed; what a process holds stays. The times are those
// of `dynatrain plan` (transition/preview).
//
// "dynatrain" is what the engine does: all states move. "dynatrain-cast" is
// what the planner offers beside (transition/plan/regenerate.h) and the engine
// does not do yet: weights that cost fewer bytes so are cast anew from their
// masters and gathered, as ElasticMegatron does with all of them.
#ifndef TOOLS_SIMULATE_DYNATRAIN_STRATEGY_H_
#define TOOLS_SIMULATE_DYNATRAIN_STRATEGY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/strategy.h"

namespace dynatrain::simulate {

class DynaTrainStrategy : public Strategy {
 public:
  enum class Weights { kMoved, kCast };
  explicit DynaTrainStrategy(Weights weights) : weights_(weights) {}

  absl::string_view name() const override {
    return weights_ == Weights::kMoved ? "dynatrain" : "dynatrain-cast";
  }
  absl::string_view source() const override {
    return weights_ == Weights::kMoved
               ? "this repository, transition/plan"
               : "this repository, transition/plan/regenerate.h; not in the "
                 "engine yet";
  }
  // Phases: copy (what a rank keeps at another place), transfer, gather weights
  // (kCast), verify (a digest over what it sends and receives).
  absl::StatusOr<Movement> Plan(const SwitchCase& change) const override;

 private:
  Weights weights_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_DYNATRAIN_STRATEGY_H_
