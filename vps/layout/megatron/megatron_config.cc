#include "vps/layout/megatron/megatron_config.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::vps::megatron {
namespace {

// core/distributed/distributed_data_parallel.py: the least size of a bucket,
// and what it has at least per data-parallel rank (without context parallel).
constexpr int64_t kLeastBucketElements = 40'000'000;
constexpr int64_t kBucketElementsPerRank = 1'000'000;

absl::Status Validate(const MegatronOptions& options) {
  if (options.vocab_divisor < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "vocab_divisor is ", options.vocab_divisor,
        "; at least 1, Megatron's default is ", kDefaultVocabDivisor));
  }
  if (options.bucket_size.has_value() && *options.bucket_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bucket_size is ", *options.bucket_size, "; at least 1, or not given"));
  }
  if (!options.distributed_optimizer && options.ranks.optimizer_instances > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "optimizer_instances is ", options.ranks.optimizer_instances,
        " without distributed_optimizer, which it divides; 1 would do"));
  }
  if (!options.distributed_optimizer && options.precision_aware_optimizer) {
    return absl::InvalidArgumentError(
        "precision_aware_optimizer needs distributed_optimizer");
  }
  if (options.overlap_param_gather_with_optimizer_step &&
      !(options.distributed_optimizer && options.overlap_grad_reduce)) {
    return absl::InvalidArgumentError(
        "overlap_param_gather_with_optimizer_step needs distributed_optimizer "
        "and overlap_grad_reduce");
  }
  if (options.grouped_experts && options.spec == LayerSpec::kLocal) {
    return absl::InvalidArgumentError(
        "grouped_experts needs the Transformer-Engine spec: the local one has "
        "the legacy GroupedMLP, which Megatron deprecates and which keeps all "
        "experts of a rank in one transposed weight");
  }
  return absl::OkStatus();
}

// core/ssm/mamba_block.py, _select_layers_for_pipeline_parallel.
absl::Status ValidateHybrid(const MegatronOptions& options) {
  if (options.vpp > 1 || !options.pipeline_layout.empty() ||
      options.account_for_embedding || options.account_for_loss) {
    return absl::InvalidArgumentError(
        "the Mamba hybrid model supports neither vpp above 1 (interleaved "
        "pipeline) nor pipeline_layout nor account_for_embedding or _loss; "
        "even stages, first_stage_layers and last_stage_layers do");
  }
  if (options.spec == LayerSpec::kLocal) {
    return absl::InvalidArgumentError(
        "the Mamba hybrid model has only a Transformer-Engine spec");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MegatronConfig> MegatronConfig::Create(MegatronOptions options) {
  RETURN_IF_ERROR(Validate(options));
  ASSIGN_OR_RETURN(Ranks ranks, Ranks::Create(options.ranks));
  return MegatronConfig(std::move(options), std::move(ranks));
}

absl::StatusOr<Pipeline> MegatronConfig::PipelineOf(
    const ModelConfig& model) const {
  if (model->mamba.has_value()) RETURN_IF_ERROR(ValidateHybrid(options_));
  const Pipeline::Options options = {
      .layers = model->layers,
      .pp = ranks_.pp(),
      .vpp = options_.vpp,
      .first_stage_layers = options_.first_stage_layers,
      .last_stage_layers = options_.last_stage_layers,
      .account_for_embedding = options_.account_for_embedding,
      .account_for_loss = options_.account_for_loss,
      .layout = options_.pipeline_layout,
      .mtp_layers = model->mtp_layers,
  };
  ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::Create(options));
  if (options_.overlap_param_gather_with_optimizer_step &&
      pipeline.vpp() == 1) {
    // The second of its two optimizers has all chunks but the first.
    return absl::InvalidArgumentError(
        "overlap_param_gather_with_optimizer_step needs a vpp above 1 "
        "(interleaved pipeline)");
  }
  return pipeline;
}

std::optional<int64_t> MegatronConfig::BucketSize(int stage, int chunk) const {
  if (stage > 0 || chunk > 0 || !options_.overlap_grad_reduce ||
      options_.overlap_param_gather_with_optimizer_step) {
    return std::nullopt;
  }
  if (options_.bucket_size.has_value()) return options_.bucket_size;
  return std::max(kLeastBucketElements, kBucketElementsPerRank * ranks_.dp());
}

}  // namespace dynatrain::vps::megatron
