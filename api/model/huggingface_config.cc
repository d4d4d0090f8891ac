#include "api/model/huggingface_config.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/model/field_reader.h"
#include "api/model/huggingface_harmless.h"
#include "base/nearest.h"
#include "base/status_macros.h"
#include "vps/model/families.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;
using vps::Family;
using vps::ModelNumbers;

// What all types but gpt2 call by the same names.
ModelNumbers Common(FieldReader& f, Family family) {
  ModelNumbers n = vps::FamilyFeatures(family);
  n.hidden = f.Required("hidden_size");
  n.vocabulary = f.Required("vocab_size");
  n.tied = f.Bool("tie_word_embeddings", false);
  return n;
}

// Only attention kinds that have the same tensors.
void CheckLayerTypes(FieldReader& f) {
  if (!f.Has("layer_types")) return;
  const Json& types = f.At("layer_types");
  bool known = types.is_array();
  for (const Json& type : known ? types : Json::array()) {
    known &= type == "full_attention" || type == "sliding_attention";
  }
  if (!known) {
    f.Refuse("layer_types",
             "is not a list of full_attention and sliding_attention");
  }
}

// Refuses a flag that would add biases that we have no model for.
void MustBeOff(FieldReader& f, absl::string_view key) {
  if (f.Bool(key, false)) {
    f.Refuse(key, "is not supported for this model_type; false is");
  }
}

// Layers of attention with grouped queries; `groups_default`: whether the type
// takes num_key_value_heads as num_attention_heads if it is not given.
ModelNumbers Grouped(FieldReader& f, Family family, bool groups_default) {
  ModelNumbers n = Common(f, family);
  n.layers = f.Required("num_hidden_layers");
  n.heads = f.Required("num_attention_heads");
  n.query_groups = groups_default && !f.Has("num_key_value_heads")
                       ? n.heads
                       : f.Required("num_key_value_heads");
  n.head_dim = f.Size("head_dim", 0, 1);
  CheckLayerTypes(f);
  return n;
}

ModelNumbers Llama(FieldReader& f) {
  ModelNumbers n = Grouped(f, Family::kLlama, true);
  n.ffn = f.Required("intermediate_size");
  n.bias = f.Bool("attention_bias", false);
  if (f.Bool("mlp_bias", false) != n.bias) {
    f.Refuse("mlp_bias", "differs from attention_bias; both or none can be");
  }
  return n;
}

ModelNumbers Mistral(FieldReader& f) {
  ModelNumbers n = Grouped(f, Family::kLlama, false);
  n.ffn = f.Required("intermediate_size");
  return n;
}

ModelNumbers Qwen2(FieldReader& f) {
  ModelNumbers n = Mistral(f);
  n.qkv_bias = true;
  return n;
}

ModelNumbers Qwen3(FieldReader& f) {
  ModelNumbers n = Grouped(f, Family::kQwen3, false);
  n.ffn = f.Required("intermediate_size");
  n.head_dim = f.Required("head_dim");
  MustBeOff(f, "attention_bias");
  return n;
}

// [0, 1, ..., k-1] -> k; such layers are dense.
int64_t DensePrefix(FieldReader& f) {
  if (!f.Has("mlp_only_layers")) return 0;
  const Json& layers = f.At("mlp_only_layers");
  bool prefix = layers.is_array();
  int64_t next = 0;
  for (const Json& layer : prefix ? layers : Json::array()) {
    prefix &= layer.is_number_integer() && layer == next++;
  }
  if (!prefix) {
    f.Refuse("mlp_only_layers",
             "is not a list of the first layers, as [0, 1, 2]");
  }
  return next;
}

ModelNumbers Qwen3Moe(FieldReader& f) {
  ModelNumbers n = Grouped(f, Family::kQwen3Moe, false);
  n.ffn = f.Size("intermediate_size", 0);
  MustBeOff(f, "attention_bias");
  n.experts->count = f.Required(f.Has("num_local_experts") ? "num_local_experts"
                                                           : "num_experts");
  n.experts->ffn = f.Required("moe_intermediate_size");
  // Layer i has experts if (i + 1) % decoder_sparse_step == 0.
  n.experts->frequency = f.Size("decoder_sparse_step", 1, 1);
  n.experts->phase = n.experts->frequency - 1;
  n.experts->first_dense = DensePrefix(f);
  return n;
}

ModelNumbers Mixtral(FieldReader& f) {
  ModelNumbers n = Grouped(f, Family::kMixtral, false);
  n.experts->count = f.Required("num_local_experts");
  n.ffn = n.experts->ffn = f.Required("intermediate_size");
  return n;
}

vps::LatentNumbers Latent(FieldReader& f) {
  return {.q_rank = f.Size("q_lora_rank", 0),
          .kv_rank = f.Required("kv_lora_rank"),
          .nope_dim = f.Required("qk_nope_head_dim"),
          .rope_dim = f.Required("qk_rope_head_dim"),
          .v_dim = f.Required("v_head_dim")};
}

ModelNumbers DeepseekV3(FieldReader& f) {
  ModelNumbers n = Common(f, Family::kDeepseekV3);
  n.layers = f.Required("num_hidden_layers");
  n.heads = f.Required("num_attention_heads");
  if (f.Size("num_key_value_heads", n.heads) != n.heads) {
    f.Refuse("num_key_value_heads",
             absl::StrCat("differs from num_attention_heads ", n.heads,
                          ", but latent attention has no groups"));
  }
  // Both follow from the latent dims; newer versions write them too.
  f.Has("head_dim");
  f.Has("qk_head_dim");
  MustBeOff(f, "attention_bias");
  n.latent = Latent(f);
  n.ffn = f.Required("intermediate_size");
  n.experts->count = f.Required("n_routed_experts");
  n.experts->ffn = f.Required("moe_intermediate_size");
  n.experts->shared_ffn = f.Size("n_shared_experts", 0) * n.experts->ffn;
  n.experts->first_dense = f.Size("first_k_dense_replace", 0);
  n.experts->frequency = f.Size("moe_layer_freq", 1, 1);
  n.experts->correction = f.Text("topk_method", "noaux_tc") == "noaux_tc";
  n.mtp_layers = f.Size("num_nextn_predict_layers", 0);
  if (f.Has("num_mtp_layers")) n.mtp_layers = f.Size("num_mtp_layers", 0);
  return n;
}

// The pattern, from either of its two forms.
std::string Pattern(FieldReader& f) {
  const char* list =
      f.Has("layers_block_type") ? "layers_block_type" : "layer_types";
  if (!f.Has(list)) return f.Text("hybrid_override_pattern");
  f.Has("hybrid_override_pattern");  // the list wins
  std::string pattern;
  const Json& types = f.At(list);
  for (const Json& type : types.is_array() ? types : Json::array()) {
    if (type == "linear_attention" || type == "mamba") pattern += 'M';
    if (type == "full_attention" || type == "attention") pattern += '*';
    if (type == "mlp") pattern += '-';
    if (type == "moe") pattern += 'E';
  }
  if (!types.is_array() || pattern.size() != types.size()) {
    f.Refuse(list,
             "is not a list of linear_attention, full_attention, mlp and moe");
  }
  return pattern;
}

vps::MambaNumbers Mamba(FieldReader& f) {
  vps::MambaNumbers m = {.pattern = Pattern(f),
                         .heads = f.Required("mamba_num_heads"),
                         .head_dim = f.Required("mamba_head_dim")};
  m.groups =
      f.Required(f.Has("mamba_n_groups") ? "mamba_n_groups" : "n_groups");
  m.state = f.Required("ssm_state_size");
  m.convolution =
      f.Size(f.Has("mamba_d_conv") ? "mamba_d_conv" : "conv_kernel", 4, 1);
  m.convolution_bias = f.Bool(
      f.Has("mamba_conv_bias") ? "mamba_conv_bias" : "use_conv_bias", true);
  return m;
}

// Fields of attention that a hybrid without attention has in vain.
void HybridAttention(FieldReader& f, ModelNumbers& n) {
  const int64_t heads = f.Size("num_attention_heads", 0, 1);
  const int64_t groups = f.Size("num_key_value_heads", heads, 1);
  const int64_t head_dim = f.Size(
      f.Has("attention_head_dim") ? "attention_head_dim" : "head_dim", 0, 1);
  if (n.mamba->pattern.find('*') == std::string::npos) return;
  n.heads = f.Required("num_attention_heads");
  n.query_groups = groups;
  n.head_dim = head_dim;
}

void HybridExperts(FieldReader& f, ModelNumbers& n) {
  for (const char* key : {"n_routed_experts", "moe_intermediate_size",
                          "moe_shared_expert_intermediate_size",
                          "n_shared_experts", "num_nextn_predict_layers"}) {
    f.Has(key);
  }
  if (n.mamba->pattern.find('E') == std::string::npos) return;
  n.experts = vps::ExpertNumbers{
      .count = f.Required("n_routed_experts"),
      .ffn = f.Required("moe_intermediate_size"),
      .shared_ffn = f.Required("moe_shared_expert_intermediate_size"),
      .correction = true};
  if (f.Has("moe_latent_size")) {
    f.Refuse("moe_latent_size", "is not supported; null is");
  }
}

ModelNumbers NemotronH(FieldReader& f) {
  ModelNumbers n = Common(f, Family::kMambaHybrid);
  n.mamba = Mamba(f);
  n.layers = f.Size("num_hidden_layers",
                    static_cast<int64_t>(n.mamba->pattern.size()), 1);
  n.ffn = f.Size("intermediate_size", 0);
  for (const char* key :
       {"attention_bias", "mlp_bias", "use_bias", "mamba_proj_bias"}) {
    MustBeOff(f, key);
  }
  HybridAttention(f, n);
  HybridExperts(f, n);
  n.mtp_layers = f.Size("num_nextn_predict_layers", 0);
  return n;
}

ModelNumbers Gpt2(FieldReader& f) {
  ModelNumbers n = vps::FamilyFeatures(Family::kGpt3);
  n.hidden = f.Required("n_embd");
  n.layers = f.Required("n_layer");
  n.heads = f.Required("n_head");
  n.ffn = f.Size("n_inner", 4 * n.hidden, 1);
  n.vocabulary = f.Required("vocab_size");
  n.positions = f.Required("n_positions");
  n.tied = f.Bool("tie_word_embeddings", true);
  MustBeOff(f, "add_cross_attention");
  return n;
}

struct Type {
  const char* name;
  ModelNumbers (*read)(FieldReader&);
};

constexpr Type kTypes[] = {
    {"deepseek_v3", DeepseekV3},
    {"gpt2", Gpt2},
    {"llama", Llama},
    {"mistral", Mistral},
    {"mixtral", Mixtral},
    {"nemotron_h", NemotronH},
    {"qwen2", Qwen2},
    {"qwen3", Qwen3},
    {"qwen3_moe", Qwen3Moe},
};

std::vector<std::string> TypeNames() {
  std::vector<std::string> names;
  for (const Type& type : kTypes) names.emplace_back(type.name);
  return names;
}

}  // namespace

absl::StatusOr<vps::ModelConfig> ReadHuggingFaceConfig(
    const Json& config, const std::string& path) {
  FieldReader fields(config, path);
  const std::string name = fields.Text("model_type");
  for (const Type& type : kTypes) {
    if (name != type.name) continue;
    ModelNumbers numbers = type.read(fields);
    RETURN_IF_ERROR(fields.Finish(IsHarmless),
                    absl::StrCat("model_type ", name));
    auto model = vps::ModelConfig::Create(std::move(numbers));
    if (!model.ok()) return WithContext(std::move(model).status(), path);
    return model;
  }
  RETURN_IF_ERROR(fields.Finish([](auto&&...) { return true; }));
  const std::vector<std::string> types = TypeNames();
  return absl::InvalidArgumentError(absl::StrCat(
      fields.Path("model_type"), ": ", DumpJson(fields.At("model_type")),
      " is not supported; supported are ", absl::StrJoin(types, ", "),
      DidYouMean(name, types)));
}

}  // namespace dynatrain::api
