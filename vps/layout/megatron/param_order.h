// ParamOrder: in which order a model chunk lists its parameters, and what they
// are called there. Megatron's flat buffers are filled in this order, which is
// that of named_parameters(): the order in which modules are built, which
// depends on the layer spec and on how experts are grouped.
//
//   ParamOrder order(config, {.spec = LayerSpec::kTransformerEngine},
//   pipeline); order.Chunk(/*stage=*/1, /*chunk=*/0)[0].name ==
//       "decoder.layers.0.self_attention.linear_proj.weight"
//
// The optimizer's parameter groups play no part: they order what an optimizer
// iterates over, not where anything lies.
// Source (Megatron-Core 0.16.1): core/models/gpt/gpt_model.py and
// gpt_layer_specs.py, models/mamba/mamba_layer_specs.py, models/common/
// language_module/language_module.py, transformer/transformer_block.py.
#ifndef VPS_LAYOUT_MEGATRON_PARAM_ORDER_H_
#define VPS_LAYOUT_MEGATRON_PARAM_ORDER_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vps/layout/megatron/layer_spec.h"
#include "vps/layout/megatron/pipeline.h"
#include "vps/layout/megatron/version.h"
#include "vps/model/model_config.h"
#include "vps/model/model_tensor.h"

namespace dynatrain::vps::megatron {

// A parameter or persistent buffer as a model chunk has it.
struct LiveTensor {
  // Index in ParamOrder::tensors(); of an expert, that of the first ep rank
  // (the one of ep rank e is TensorOfExpertRank).
  int tensor = 0;
  // On the chunk's module, with local indices:
  // "decoder.layers.0.mlp.experts.local_experts.1.linear_fc1.weight".
  std::string name;
  // Has a bucket of its own in the distributed optimizer's buffer.
  bool shared_embedding = false;

  friend bool operator==(const LiveTensor&, const LiveTensor&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const LiveTensor& live) {
  return out << live.tensor << " " << live.name
             << (live.shared_embedding ? " (shared)" : "");
}

class ParamOrder {
 public:
  struct Options {
    LayerSpec spec = LayerSpec::kTransformerEngine;
    // Transformer Engine's grouped experts (TEGroupedMLP): all fc1, then all
    // fc2; else one expert after the other (SequentialMLP).
    bool grouped_experts = false;
    int ep = 1;  // divides the experts
    MegatronVersion version;
  };

  // `pipeline` is of as many layers and MTP layers as the model.
  ParamOrder(const ModelConfig& config, const Options& options,
             Pipeline pipeline);

  // TensorsOf(config).
  absl::Span<const ModelTensor> tensors() const { return tensors_; }
  const Pipeline& pipeline() const { return pipeline_; }

  // All that the chunk has, in its order. O(what it has + its experts).
  std::vector<LiveTensor> Chunk(int stage, int chunk) const;

  // The tensor that ep rank `ep_rank` has where the first has `tensor`.
  int TensorOfExpertRank(int tensor, int ep_rank) const;

 private:
  // Tensors [begin, end) of one layer.
  struct Range {
    int begin = 0;
    int end = 0;
  };

  // A tensor of a layer and what it is called there, without the layer's name.
  struct InLayer {
    int tensor;
    std::string name;
  };

  void Index();
  // What a chunk has of one layer, in its order, by names without `prefix`.
  std::vector<InLayer> Layer(Range range, absl::string_view prefix,
                             const LayerParts& parts) const;
  // The role of the linear layer that has a norm inside, if one has.
  std::optional<Role> FusedInto(Role norm, const LayerParts& parts) const;
  std::string NameOf(const ModelTensor& tensor, absl::string_view name) const;
  void SortGroupedExperts(std::vector<InLayer>& layer) const;

  void AppendEmbedding(int stage, int chunk,
                       std::vector<LiveTensor>& out) const;
  void AppendLayers(int stage, int chunk, std::vector<LiveTensor>& out) const;
  void AppendMtp(int stage, int chunk, std::vector<LiveTensor>& out) const;
  void AppendOutput(int stage, int chunk, std::vector<LiveTensor>& out) const;
  bool HasMtp(int stage, int chunk) const {
    return pipeline_.chunk(stage, chunk).mtp_layers > 0;
  }

  ModelConfig config_;
  Options options_;
  Pipeline pipeline_;
  std::vector<ModelTensor> tensors_;
  std::vector<Range> layers_;
  std::vector<Range> mtp_;
  Range embedding_;             // word and position embeddings
  Range final_norm_;            // weight and bias
  Range output_;                // empty if tied
  int local_experts_ = 0;       // of one ep rank
  int tensors_per_expert_ = 0;  // which stand together, experts ascending
};

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_PARAM_ORDER_H_
