#include "vps/layout/megatron/param_order.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "vps/model/model_tensors.h"

namespace dynatrain::vps::megatron {
namespace {

// In names of the model; an implementation may call it otherwise.
constexpr absl::string_view kMtpTransformerLayer = "transformer_layer.";

// "mlp.linear_fc1.weight" -> "mlp.linear_fc1".
absl::string_view ModuleOf(absl::string_view name) {
  return name.substr(0, name.rfind('.'));
}

// "mlp.linear_fc1.weight" -> "weight".
absl::string_view LeafOf(absl::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

bool IsEmbedding(Role role) {
  return role == Role::kWordEmbedding || role == Role::kPositionEmbedding;
}

std::string LayerPrefix(absl::string_view block, int index) {
  return absl::StrCat(block, ".layers.", index, ".");
}

}  // namespace

ParamOrder::ParamOrder(const ModelConfig& config, const Options& options,
                       Pipeline pipeline)
    : config_(config),
      options_(options),
      pipeline_(std::move(pipeline)),
      tensors_(TensorsOf(config)) {
  if (config_->experts.has_value()) {
    local_experts_ = static_cast<int>(config_->experts->count) / options_.ep;
  }
  Index();
}

void ParamOrder::Index() {
  layers_.resize(pipeline_.layers());
  mtp_.resize(pipeline_.mtp_layers());
  for (int i = 0; i < static_cast<int>(tensors_.size()); ++i) {
    const ModelTensor& tensor = tensors_[i];
    Range& range = tensor.layer.has_value()            ? layers_[*tensor.layer]
                   : tensor.mtp.has_value()            ? mtp_[*tensor.mtp]
                   : IsEmbedding(tensor.role)          ? embedding_
                   : tensor.role == Role::kOutputLayer ? output_
                                                       : final_norm_;
    if (range.end == 0) range.begin = i;
    range.end = i + 1;
  }
  const auto is_first = [](const ModelTensor& tensor) {
    return tensor.expert == 0;
  };
  const auto begin = std::find_if(tensors_.begin(), tensors_.end(), is_first);
  const auto end = std::find_if_not(begin, tensors_.end(), is_first);
  tensors_per_expert_ = static_cast<int>(end - begin);
}

int ParamOrder::TensorOfExpertRank(int tensor, int ep_rank) const {
  return tensor + ep_rank * local_experts_ * tensors_per_expert_;
}

std::optional<Role> ParamOrder::FusedInto(Role norm,
                                          const LayerParts& parts) const {
  if (options_.spec == LayerSpec::kLocal) return std::nullopt;
  switch (norm) {
    case Role::kInputNorm:
      if (config_->latent.has_value()) return std::nullopt;
      return Role::kQkv;
    case Role::kQLatentNorm:
      return Role::kQUp;
    case Role::kKvLatentNorm:
      return Role::kKvUp;
    case Role::kPreMlpNorm:
      if (parts.feed_forward != FeedForward::kDense) return std::nullopt;
      return Role::kFc1;
    case Role::kMambaInputNorm:
      return Role::kMambaIn;
    default:
      return std::nullopt;
  }
}

std::string ParamOrder::NameOf(const ModelTensor& tensor,
                               absl::string_view name) const {
  if (tensor.mtp.has_value() &&
      absl::ConsumePrefix(&name, kMtpTransformerLayer)) {
    ModelTensor inner = tensor;
    inner.mtp.reset();
    return absl::StrCat(options_.version.mtp_transformer_layer, ".",
                        NameOf(inner, name));
  }
  if (!tensor.expert.has_value()) return std::string(name);
  const std::string index = absl::StrCat(*tensor.expert);
  const absl::string_view whole = name;
  const std::string marker = absl::StrCat("experts.", index, ".");
  const size_t at = whole.find(marker);
  const absl::string_view module = whole.substr(0, at);
  const absl::string_view rest = whole.substr(at + marker.size());
  if (options_.grouped_experts)
    return absl::StrCat(module, "experts.", rest, index);
  return absl::StrCat(module, "experts.local_experts.", index, ".", rest);
}

// All fc1, then all fc2; of each expert its weight, then its bias.
void ParamOrder::SortGroupedExperts(std::vector<InLayer>& layer) const {
  const auto is_expert = [this](const InLayer& entry) {
    return tensors_[entry.tensor].expert.has_value();
  };
  const auto begin = std::find_if(layer.begin(), layer.end(), is_expert);
  const auto end = std::find_if_not(begin, layer.end(), is_expert);
  const auto key = [this](const InLayer& entry) {
    const ModelTensor& tensor = tensors_[entry.tensor];
    return std::make_tuple(tensor.role, *tensor.expert, tensor.bias);
  };
  std::sort(begin, end, [&](const InLayer& a, const InLayer& b) {
    return key(a) < key(b);
  });
}

std::vector<ParamOrder::InLayer> ParamOrder::Layer(
    Range range, absl::string_view prefix, const LayerParts& parts) const {
  std::vector<std::pair<Role, int>> fused;
  for (int i = range.begin; i < range.end; ++i) {
    const auto into = FusedInto(tensors_[i].role, parts);
    if (into.has_value()) fused.emplace_back(*into, i);
  }
  std::vector<InLayer> layer;
  for (int i = range.begin; i < range.end; ++i) {
    const ModelTensor& tensor = tensors_[i];
    if (tensor.expert.value_or(0) >= std::max(local_experts_, 1)) continue;
    if (FusedInto(tensor.role, parts).has_value()) continue;
    const std::string name =
        NameOf(tensor, absl::StripPrefix(tensor.name, prefix));
    for (const auto& [host, norm] : fused) {
      if (host != tensor.role || tensor.bias) continue;
      layer.push_back({norm, absl::StrCat(ModuleOf(name), ".layer_norm_",
                                          LeafOf(tensors_[norm].name))});
    }
    layer.push_back({i, name});
  }
  if (options_.grouped_experts) SortGroupedExperts(layer);
  return layer;
}

// The first chunk has the embedding, and so has that of the MTP layers.
void ParamOrder::AppendEmbedding(int stage, int chunk,
                                 std::vector<LiveTensor>& out) const {
  if (!pipeline_.IsFirst(stage, chunk) && !HasMtp(stage, chunk)) return;
  // Two copies that reduce their gradients together.
  const bool shared =
      pipeline_.pp() > 1 && (config_->tied || pipeline_.mtp_layers() > 0);
  for (int i = embedding_.begin; i < embedding_.end; ++i) {
    out.push_back({.tensor = i,
                   .name = tensors_[i].name,
                   .shared_embedding =
                       shared && tensors_[i].role == Role::kWordEmbedding});
  }
}

void ParamOrder::AppendLayers(int stage, int chunk,
                              std::vector<LiveTensor>& out) const {
  const ModelChunk& here = pipeline_.chunk(stage, chunk);
  for (int local = 0; local < here.layers; ++local) {
    const int index = here.first_layer + local;
    const std::string prefix = LayerPrefix("decoder", local);
    for (InLayer& entry : Layer(layers_[index], LayerPrefix("decoder", index),
                                config_.layer(index))) {
      out.push_back({.tensor = entry.tensor, .name = prefix + entry.name});
    }
  }
}

void ParamOrder::AppendMtp(int stage, int chunk,
                           std::vector<LiveTensor>& out) const {
  if (!HasMtp(stage, chunk)) return;
  for (int index = 0; index < static_cast<int>(mtp_.size()); ++index) {
    const std::string prefix = LayerPrefix("mtp", index);
    for (InLayer& entry : Layer(mtp_[index], prefix, config_.mtp_layer())) {
      out.push_back({.tensor = entry.tensor, .name = prefix + entry.name});
    }
  }
}

void ParamOrder::AppendOutput(int stage, int chunk,
                              std::vector<LiveTensor>& out) const {
  if (!pipeline_.IsLast(stage, chunk)) return;
  if (!config_->tied) {
    for (int i = output_.begin; i < output_.end; ++i) {
      out.push_back({.tensor = i, .name = tensors_[i].name});
    }
    return;
  }
  // With one chunk the embedding itself is used. Otherwise the last has a copy,
  // also beside the embedding of MTP layers, which is then the one in use.
  if (pipeline_.IsFirst(stage, chunk)) return;
  out.push_back({.tensor = embedding_.begin,
                 .name = "output_layer.weight",
                 .shared_embedding = !HasMtp(stage, chunk)});
}

std::vector<LiveTensor> ParamOrder::Chunk(int stage, int chunk) const {
  std::vector<LiveTensor> out;
  AppendEmbedding(stage, chunk, out);
  AppendLayers(stage, chunk, out);
  if (pipeline_.HasFinalNorm(stage, chunk)) {
    for (int i = final_norm_.begin; i < final_norm_.end; ++i) {
      out.push_back({.tensor = i, .name = tensors_[i].name});
    }
  }
  AppendMtp(stage, chunk, out);
  AppendOutput(stage, chunk, out);
  return out;
}

}  // namespace dynatrain::vps::megatron
