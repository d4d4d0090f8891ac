// MegatronLayout: the Layout of a Megatron-LM job, and what its tensors are
// called and where they lie in a live one.
//
//   ASSIGN_OR_RETURN(ModelConfig model, Preset("qwen3-235b-a22b"));
//   ASSIGN_OR_RETURN(MegatronConfig config,
//                    MegatronConfig::Create({.ranks = {.world = 128, .tp = 4,
//                                                      .pp = 8, .ep = 8},
//                                            .first_stage_layers = 11,
//                                            .last_stage_layers = 11}));
//   ASSIGN_OR_RETURN(StateList states, StateList::Preset("bf16-mixed"));
//   ASSIGN_OR_RETURN(MegatronLayout job,
//                    MakeMegatronLayout(model, config, states));
//   job.layout().ForEachRegion(rank, ...);
//
// In terms of the chain of placement.h:
//   where    a stage (pp); of an expert its ep rank too. The word embedding of
//            a model whose stages share it is one tensor with several copies.
//   cut      by tensor parallelism (tensor_parallel.h), over tp or etp
//   flatten  what the optimizer keeps, with the distributed optimizer: in
//            shards of the bucket in which the parameter lies (flat_buffer.h)
//   store    weights in the parameter buffer; gradients in their own one
// Data, context and sequence parallelism need no more: an axis that nothing
// names replicates.
#ifndef VPS_LAYOUT_MEGATRON_MEGATRON_LAYOUT_H_
#define VPS_LAYOUT_MEGATRON_MEGATRON_LAYOUT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vps/layout/layout.h"
#include "vps/layout/megatron/flat_buffer.h"
#include "vps/layout/megatron/megatron_config.h"
#include "vps/model/model_config.h"
#include "vps/model/state_list.h"

namespace dynatrain::vps::megatron {

// A flat buffer of a rank, the same on all ranks of a stage.
struct MegatronBuffer {
  std::string name;  // "0/dense/bfloat16": chunk, optimizer, dtype in memory
  FlatBuffer flat;
  // Of its parameters, in order of declaration: FlatBuffer::slot(i) is that of
  // live_names[i].
  std::vector<std::string> live_names;
};

class MegatronLayout {
 public:
  const Layout& layout() const { return layout_; }

  // What the ranks that have this copy call it: chunk and name on the chunk's
  // module, "1/decoder.layers.0.mlp.linear_fc1.weight". All states of a
  // parameter have its name. REQUIRES: valid indices of layout().
  absl::string_view LiveName(int tensor, int copy) const;

  // Of the rank's stage: chunk by chunk, dense parameters first.
  absl::Span<const MegatronBuffer> Buffers(int rank) const;

 private:
  friend class MegatronLayoutMaker;
  explicit MegatronLayout(Layout layout) : layout_(std::move(layout)) {}

  Layout layout_;
  std::vector<std::string> live_names_;
  // live_names_[names_of_copies_[first_copy_[t] + c]] for tensor t, copy c.
  std::vector<int> names_of_copies_;
  std::vector<int> first_copy_;
  std::vector<std::vector<MegatronBuffer>> buffers_;  // by stage
  int pp_stride_ = 1;
};

// Tensors stand in the order of TensorsOf(model), the states of each in that of
// `states`; persistent buffers are held by every rank of their layer's stage.
// With the distributed optimizer a gradient is what its owner has once it is
// reduced.
//
// Returns kInvalidArgument naming the field, its value and what would do: see
// CheckTensorParallel and MegatronConfig::PipelineOf; for a float32 master of
// parameters that are float32 themselves, which Megatron doesn't keep; for
// states of the optimizer in other dtypes than float32 without
// precision_aware_optimizer; for a scale per block of a weight that tensor
// parallelism would cut within a block; for experts at ep 1 with an etp that
// makes Megatron 0.16.1 sum the gradients of different experts' parts.
absl::StatusOr<MegatronLayout> MakeMegatronLayout(const ModelConfig& model,
                                                  const MegatronConfig& config,
                                                  const StateList& states);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_MEGATRON_LAYOUT_H_
