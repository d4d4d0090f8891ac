// MegatronConfig: how a Megatron job is laid out, apart from its model: what
// its command line says of parallelism, pipeline, buffers and optimizer.
//
//   ASSIGN_OR_RETURN(MegatronConfig config,
//                    MegatronConfig::Create({.ranks = {.world = 128, .tp = 4,
//                                                      .pp = 8, .ep = 8}}));
#ifndef VPS_LAYOUT_MEGATRON_MEGATRON_CONFIG_H_
#define VPS_LAYOUT_MEGATRON_MEGATRON_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "vps/layout/megatron/layer_spec.h"
#include "vps/layout/megatron/pipeline.h"
#include "vps/layout/megatron/ranks.h"
#include "vps/layout/megatron/version.h"
#include "vps/layout/megatron/vocab.h"
#include "vps/model/model_config.h"

namespace dynatrain::vps::megatron {

// Megatron's own words for them in brackets where they differ.
struct MegatronOptions {
  Ranks::Sizes ranks;

  // See Pipeline::Options, which has the same and the model's numbers.
  int64_t vpp = 1;
  std::optional<int64_t> first_stage_layers;
  std::optional<int64_t> last_stage_layers;
  bool account_for_embedding = false;
  bool account_for_loss = false;
  std::string pipeline_layout;

  LayerSpec spec = LayerSpec::kTransformerEngine;  // (transformer_impl)
  bool grouped_experts = false;                    // (moe_grouped_gemm)
  // (make_vocab_size_divisible_by)
  int64_t vocab_divisor = kDefaultVocabDivisor;

  bool distributed_optimizer = true;
  bool overlap_grad_reduce = false;
  // Elements; has an effect only with overlap_grad_reduce. nullopt:
  // max(40,000,000, 1,000,000 * dp).
  std::optional<int64_t> bucket_size;
  bool pad_for_high_bandwidth = false;  // (pad_buckets_for_high_nccl_busbw)
  bool overlap_param_gather_with_optimizer_step = false;
  // States of the optimizer may have other dtypes than float32.
  bool precision_aware_optimizer = false;

  MegatronVersion version;
};

class MegatronConfig {
 public:
  // Returns kInvalidArgument naming the field, its value and what would do for
  // what Megatron refuses of any model: see Ranks::Create; more than one
  // optimizer instance or a precision-aware optimizer without the distributed
  // optimizer; overlap_param_gather_with_optimizer_step without
  // it or overlap_grad_reduce; grouped experts in the local spec (the legacy
  // GroupedMLP, whose weights stand transposed in one tensor, isn't laid out).
  static absl::StatusOr<MegatronConfig> Create(MegatronOptions options);

  const MegatronOptions& options() const { return options_; }
  const MegatronOptions* operator->() const { return &options_; }
  const Ranks& ranks() const { return ranks_; }

  // The pipeline of a model; kInvalidArgument as Pipeline::Create, for a Mamba
  // hybrid that is cut into more than plain or uneven stages, and for
  // overlap_param_gather_with_optimizer_step with one chunk per stage.
  absl::StatusOr<Pipeline> PipelineOf(const ModelConfig& model) const;

  // Elements at which a bucket of this model chunk is closed; nullopt: it has
  // one bucket. Only the first chunk of the first stage has more, since the
  // reduction of others is not on the critical path.
  std::optional<int64_t> BucketSize(int stage, int chunk) const;

 private:
  MegatronConfig(MegatronOptions options, Ranks ranks)
      : options_(std::move(options)), ranks_(std::move(ranks)) {}

  MegatronOptions options_;
  Ranks ranks_;
};

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_MEGATRON_CONFIG_H_
