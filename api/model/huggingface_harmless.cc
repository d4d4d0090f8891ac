#include "api/model/huggingface_harmless.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"

namespace dynatrain::api {
namespace {

constexpr absl::string_view kPrefixes[] = {
    "_",  // private to the library that wrote it
    "rope_",     "summary_", "scale_attn_", "time_step_",
    "mamba_dt_",  // nemotron_h's old names of time_step_
    "output_",   "router_",  "aux_loss",
};

constexpr absl::string_view kSuffixes[] = {
    "_token_id", "_dropout", "_pdrop", "_eps", "_epsilon", "_loss_coef",
};

constexpr absl::string_view kKeys[] = {
    "architectures",
    "auto_map",
    "chunk_size",
    "chunk_size_feed_forward",
    "ep_size",  // how a checkpoint was run
    "expand",   // nemotron_h says heads and head_dim
    "id2label",
    "initializer_range",
    "label2id",
    "mamba_chunk_size",
    "mamba_expand",
    "max_position_embeddings",  // of rotary positions
    "max_sequence_length",
    "max_window_layers",
    "moe_shared_expert_overlap",
    "mtp_layers_block_type",  // read only if there are such layers
    "n_ctx",
    "n_group",
    "norm_topk_prob",
    "num_experts_per_tok",
    "num_labels",
    "num_logits_to_keep",
    "original_max_position_embeddings",
    "partial_rotary_factor",
    "pretraining_tp",
    "quantization_config",  // of a checkpoint; a job's states say its dtypes
    "reorder_and_upcast_attn",
    "rescale_layers",
    "rescale_prenorm_residual",
    "residual_in_fp32",
    "return_dict",
    "routed_scaling_factor",
    "seq_aux",
    "sliding_window",
    "task_specific_params",
    "topk_group",
    "use_cache",
    "use_mamba_kernels",
    "use_sliding_window",
};
static_assert(std::is_sorted(std::begin(kKeys), std::end(kKeys)));

}  // namespace

bool IsHarmless(absl::string_view key, const nlohmann::json& value) {
  if (value.is_string() || value == false) return true;
  const auto starts = [&](absl::string_view p) {
    return absl::StartsWith(key, p);
  };
  const auto ends = [&](absl::string_view s) { return absl::EndsWith(key, s); };
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), starts) ||
         std::any_of(std::begin(kSuffixes), std::end(kSuffixes), ends) ||
         std::binary_search(std::begin(kKeys), std::end(kKeys), key);
}

}  // namespace dynatrain::api
