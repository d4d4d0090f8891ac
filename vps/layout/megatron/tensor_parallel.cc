#include "vps/layout/megatron/tensor_parallel.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"

namespace dynatrain::vps::megatron {
namespace {

enum class Parallel : uint8_t { kWhole, kColumn, kRow };

// Column-parallel layers cut their output, dim 0 of weight and bias; row-
// parallel ones their input, dim 1 of the weight alone.
Parallel ParallelOf(Role role, LayerSpec spec) {
  switch (role) {
    case Role::kWordEmbedding:
    case Role::kOutputLayer:
    case Role::kQkv:
    case Role::kQ:
    case Role::kQUp:
    case Role::kKvUp:
    case Role::kFc1:
    case Role::kExpertFc1:
    case Role::kSharedFc1:
    case Role::kMambaDtBias:
    case Role::kMambaALog:
    case Role::kMambaD:
    case Role::kMambaIn:
    case Role::kMambaConvolution:
    case Role::kMambaNorm:
    case Role::kMtpProjection:
      return Parallel::kColumn;
    case Role::kQDown:
    case Role::kKvDown:
      // TELinear in parallel mode "duplicated"; ColumnParallelLinear else.
      return spec == LayerSpec::kTransformerEngine ? Parallel::kWhole
                                                   : Parallel::kColumn;
    case Role::kAttentionOut:
    case Role::kFc2:
    case Role::kExpertFc2:
    case Role::kSharedFc2:
    case Role::kMambaOut:
      return Parallel::kRow;
    default:
      return Parallel::kWhole;
  }
}

// The number of the model that decides how long a block is.
absl::string_view FieldOf(Role role) {
  switch (role) {
    case Role::kQkv:
      return "(heads + 2 * query_groups) * head_dim";
    case Role::kAttentionOut:
    case Role::kQ:
    case Role::kQUp:
    case Role::kKvUp:
      return "heads * their dims";
    case Role::kQDown:
      return "latent.q_rank";
    case Role::kKvDown:
      return "latent.kv_rank + latent.rope_dim";
    case Role::kFc1:
    case Role::kFc2:
      return "ffn";
    case Role::kExpertFc1:
    case Role::kExpertFc2:
      return "experts.ffn";
    case Role::kSharedFc1:
    case Role::kSharedFc2:
      return "experts.shared_ffn";
    case Role::kMambaDtBias:
    case Role::kMambaALog:
    case Role::kMambaD:
      return "mamba.heads";
    case Role::kMambaIn:
    case Role::kMambaConvolution:
    case Role::kMambaNorm:
    case Role::kMambaOut:
      return "a part of the Mamba block (heads * head_dim, groups * state)";
    case Role::kMtpProjection:
      return "hidden";
    default:
      return "an extent";
  }
}

std::string Nearest(int64_t value, int64_t divisor) {
  const int64_t below = value / divisor * divisor;
  if (below == 0) return absl::StrCat("the nearest that is: ", divisor);
  return absl::StrCat("the nearest that are: ", below, " and ",
                      below + divisor);
}

absl::Status CheckAttention(const ModelConfig& config, int64_t tp) {
  if (config.CountLayers(Mixer::kAttention) == 0) return absl::OkStatus();
  const int64_t heads = config->heads;
  if (heads % tp != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("heads ", heads, " must be a multiple of tp ", tp, "; ",
                     Nearest(heads, tp)));
  }
  const int64_t groups = config->query_groups;
  if (config->latent.has_value() || groups % tp == 0 || tp % groups == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("query_groups ", groups, " must be a multiple or divisor ",
                   "of tp ", tp, "; ", Nearest(groups, tp)));
}

absl::Status CheckMamba(const ModelConfig& config, int64_t tp) {
  if (config.CountLayers(Mixer::kMamba) == 0) return absl::OkStatus();
  const int64_t groups = config->mamba->groups;
  if (groups % tp == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("mamba.groups ", groups,
                                                 " is not divisible by tp ", tp,
                                                 "; ", Nearest(groups, tp)));
}

absl::Status CheckExperts(const ModelConfig& config, int64_t ep, int64_t etp) {
  if (!config->experts.has_value()) {
    if (ep == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "ep is ", ep, ", but the model has no experts; ep must be 1"));
  }
  if (config->bias && etp != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "etp is ", etp, ", but bias in experts is only supported when etp is ",
        "1; give etp 1, or a model without bias"));
  }
  const int64_t count = config->experts->count;
  if (count % ep == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("experts.count ", count,
                                                 " is not divisible by ep ", ep,
                                                 "; ", Nearest(count, ep)));
}

absl::Status CheckBlock(const ModelTensor& tensor, int64_t extent,
                        absl::string_view axis, int64_t pieces) {
  if (extent % pieces == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      FieldOf(tensor.role), ": ", extent, " is not divisible by ", axis, " ",
      pieces, " (", tensor.name, "); ", Nearest(extent, pieces)));
}

absl::Status CheckTensor(const ModelTensor& tensor, const TensorCut& cut,
                         const TensorSizes& sizes) {
  if (cut.axis == TensorAxis::kNone) return absl::OkStatus();
  const bool expert = cut.axis == TensorAxis::kExpertTensor;
  const absl::string_view axis = expert ? "etp" : "tp";
  const int64_t pieces = expert ? sizes.etp : sizes.tp;
  if (cut.dim != 0) {
    return CheckBlock(tensor, tensor.shape[cut.dim], axis, pieces);
  }
  for (const int64_t block : tensor.blocks) {
    RETURN_IF_ERROR(CheckBlock(tensor, block, axis, pieces));
  }
  return absl::OkStatus();
}

}  // namespace

TensorCut CutOf(const ModelTensor& tensor, LayerSpec spec) {
  const Parallel parallel = ParallelOf(tensor.role, spec);
  if (parallel == Parallel::kWhole) return {};
  if (parallel == Parallel::kRow && tensor.bias) return {};
  return {.axis = tensor.expert.has_value() ? TensorAxis::kExpertTensor
                                            : TensorAxis::kTensor,
          .dim = parallel == Parallel::kRow ? 1 : 0};
}

absl::Status CheckTensorParallel(const ModelConfig& config,
                                 absl::Span<const ModelTensor> tensors,
                                 LayerSpec spec, const TensorSizes& sizes) {
  RETURN_IF_ERROR(CheckAttention(config, sizes.tp));
  RETURN_IF_ERROR(CheckMamba(config, sizes.tp));
  RETURN_IF_ERROR(CheckExperts(config, sizes.ep, sizes.etp));
  for (const ModelTensor& tensor : tensors) {
    if (tensor.pad_from.has_value()) continue;
    RETURN_IF_ERROR(CheckTensor(tensor, CutOf(tensor, spec), sizes));
  }
  return absl::OkStatus();
}

}  // namespace dynatrain::vps::megatron
