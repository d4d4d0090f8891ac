// Tenplex-style: every rank of the new layout pulls what it needs out of the
// checkpoints that the old ranks left in their hosts' memory.
//
// Source: github.com/kungfu-team/tenplex at
// 80341e130295fc910fc74a4abc3945c20cd60dac, state_transformer/statetransform:
//   statetransform.go  transformTensor: sourceDPRank is 0, whatever the
//                      target's; MP rank the target's own if the degree stays,
//                      else 0 for tensors that every MP rank has
//   repartition.go     requestTensors: a request per source MP rank for the
//                      range that it has of the target's part, from DP rank 0
//   replicate.go       the whole tensor otherwise
// and tenplex-run/runop/runop.go: training stops and saves to the hosts'
// stores, the transformers run, training starts and loads.
//
// So a rank asks for what it holds itself too, unless it is DP rank 0, and all
// data parallel replicas ask the same ranks. Phases: save (device to host),
// pull, load (host to device).
//
// As published a Megatron job under Tenplex has no distributed optimizer: each
// data parallel replica has the whole optimizer state, and gets it from DP rank
// 0 ("tenplex"). On the layouts of our job, where an optimizer element has one
// owner, the same rule moves far less ("tenplex-zero1"); it never existed, and
// stands here so that the rule can be compared on equal state.
#ifndef TOOLS_SIMULATE_TENPLEX_STRATEGY_H_
#define TOOLS_SIMULATE_TENPLEX_STRATEGY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/strategy.h"

namespace dynatrain::simulate {

class TenplexStrategy : public Strategy {
 public:
  enum class Optimizer { kReplicated, kSharded };
  explicit TenplexStrategy(Optimizer optimizer) : optimizer_(optimizer) {}

  absl::string_view name() const override {
    return replicates_optimizer() ? "tenplex" : "tenplex-zero1";
  }
  absl::string_view source() const override {
    return "github.com/kungfu-team/tenplex "
           "80341e130295fc910fc74a4abc3945c20cd60dac, "
           "state_transformer/statetransform/{statetransform,repartition}.go";
  }
  bool replicates_optimizer() const override {
    return optimizer_ == Optimizer::kReplicated;
  }
  absl::StatusOr<Movement> Plan(const SwitchCase& change) const override;

 private:
  Optimizer optimizer_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_TENPLEX_STRATEGY_H_
