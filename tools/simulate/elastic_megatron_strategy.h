// ElasticMegatron-style: what data parallel ranks share of a parameter is
// gathered on one of them, goes from there to one rank of the new layout, and
// is scattered to its data parallel ranks.
//
// Source: github.com/infinigence/ElasticMegatron (the repository that the paper
// names), read file by file at the commits in brackets:
//   transfer/transfer.py (0c1abb08d811) transfer_optimizer_tensors:
//   _pre_process
//             of all parameters, then _main_process, then _post_process
//   resharding/resharding_dp.py (1f2d1f1d2bac) _init_aligned_rank: the first
//             data parallel rank that has any of the parameter
//   resharding/resharding_tp.py (1f2d1f1d2bac): who of the old tensor parallel
//             ranks sends to whom of the new; rank 0 for what is not cut
//   docs/project/architecture.md (0e1defe15383): moved are the optimizer's
//             tensors; model weights are cast from the masters, then gathered
//             over the data parallel ranks (start_param_sync)
//
// Phases: gather, move, scatter, gather weights. In its code ranks go through
// parameters with blocking sends, one per parameter and state; here each phase
// is scheduled as well as ours, so this is faster than it is. Gathering weights
// is a ring, as NCCL's.
#ifndef TOOLS_SIMULATE_ELASTIC_MEGATRON_STRATEGY_H_
#define TOOLS_SIMULATE_ELASTIC_MEGATRON_STRATEGY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/strategy.h"

namespace dynatrain::simulate {

class ElasticMegatronStrategy : public Strategy {
 public:
  absl::string_view name() const override { return "elastic-megatron"; }
  absl::string_view source() const override {
    return "github.com/infinigence/ElasticMegatron 0c1abb08d811, "
           "elastic_megatron/transfer/transfer.py, "
           "elastic_megatron/resharding/resharding_{dp,tp}.py";
  }
  absl::StatusOr<Movement> Plan(const SwitchCase& change) const override;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_ELASTIC_MEGATRON_STRATEGY_H_
