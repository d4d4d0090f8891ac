#include "vps/model/model_tensors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace dynatrain::vps {
namespace {

using Extents = absl::InlinedVector<int64_t, 5>;

int64_t Sum(const Extents& extents) {
  int64_t sum = 0;
  for (const int64_t extent : extents) sum += extent;
  return sum;
}

// Appends the tensors of one module after the other. The place (which layer,
// which expert) is set once and goes into all that are added there.
class Declaration {
 public:
  explicit Declaration(const ModelConfig& config)
      : config_(config), n_(config.numbers()) {}

  std::vector<ModelTensor> Take() && { return std::move(tensors_); }

  void Model();

 private:
  struct Place {
    std::optional<int> layer, mtp, expert;
  };

  void Layer(const std::string& prefix, const LayerParts& parts);
  void Attention(const std::string& prefix);
  void Qkv(const std::string& prefix);
  void LatentProjections(const std::string& prefix);
  void Mamba(const std::string& prefix);
  void Mlp(const std::string& prefix);
  void Experts(const std::string& prefix);
  void Mtp(const std::string& prefix);

  void Embedding();
  void FeedForwardPair(const std::string& prefix, Role fc1, Role fc2,
                       int64_t ffn, bool bias);
  void NormOf(absl::string_view module, Role role, int64_t width);
  // Weight [rows, columns] with `rows` in blocks, and bias [rows] if `bias`.
  void Linear(absl::string_view module, Role role, Extents rows,
              int64_t columns, bool bias);
  // A tensor whose dim 0 is the sum of `blocks`.
  ModelTensor& Add(std::string name, Role role, Extents blocks,
                   absl::InlinedVector<int64_t, 3> inner = {});

  const ModelConfig& config_;
  const ModelNumbers& n_;
  Place place_;
  std::vector<ModelTensor> tensors_;
};

ModelTensor& Declaration::Add(std::string name, Role role, Extents blocks,
                              absl::InlinedVector<int64_t, 3> inner) {
  ModelTensor& tensor = tensors_.emplace_back();
  tensor.name = std::move(name);
  tensor.role = role;
  tensor.shape = std::move(inner);
  tensor.shape.insert(tensor.shape.begin(), Sum(blocks));
  tensor.blocks = std::move(blocks);
  tensor.layer = place_.layer;
  tensor.mtp = place_.mtp;
  tensor.expert = place_.expert;
  return tensor;
}

void Declaration::Linear(absl::string_view module, Role role, Extents rows,
                         int64_t columns, bool bias) {
  Add(absl::StrCat(module, ".weight"), role, rows, {columns});
  if (bias) {
    Add(absl::StrCat(module, ".bias"), role, std::move(rows)).bias = true;
  }
}

void Declaration::NormOf(absl::string_view module, Role role, int64_t width) {
  Add(absl::StrCat(module, ".weight"), role, {width});
  if (n_.norm == Norm::kLayer) {
    Add(absl::StrCat(module, ".bias"), role, {width}).bias = true;
  }
}

void Declaration::FeedForwardPair(const std::string& prefix, Role fc1, Role fc2,
                                  int64_t ffn, bool bias) {
  const Extents rows = n_.gated ? Extents{ffn, ffn} : Extents{ffn};
  Linear(prefix + "linear_fc1", fc1, rows, n_.hidden, bias);
  Linear(prefix + "linear_fc2", fc2, {n_.hidden}, ffn, bias);
}

void Declaration::Embedding() {
  Add("embedding.word_embeddings.weight", Role::kWordEmbedding, {n_.vocabulary},
      {n_.hidden})
      .pad_from = n_.vocabulary;
  if (n_.positions > 0) {
    Add("embedding.position_embeddings.weight", Role::kPositionEmbedding,
        {n_.positions}, {n_.hidden});
  }
}

void Declaration::Qkv(const std::string& prefix) {
  Linear(prefix + "linear_qkv", Role::kQkv, {config_.qkv_rows()}, n_.hidden,
         n_.bias || n_.qkv_bias);
  if (!n_.qk_norm) return;
  NormOf(prefix + "q_layernorm", Role::kQNorm, n_.head_dim);
  NormOf(prefix + "k_layernorm", Role::kKNorm, n_.head_dim);
}

void Declaration::LatentProjections(const std::string& prefix) {
  const LatentNumbers& latent = *n_.latent;
  const int64_t q_rows = n_.heads * (latent.nope_dim + latent.rope_dim);
  if (latent.q_rank == 0) {
    Linear(prefix + "linear_q_proj", Role::kQ, {q_rows}, n_.hidden, false);
  } else {
    Linear(prefix + "linear_q_down_proj", Role::kQDown, {latent.q_rank},
           n_.hidden, false);
    Linear(prefix + "linear_q_up_proj", Role::kQUp, {q_rows}, latent.q_rank,
           false);
  }
  Linear(prefix + "linear_kv_down_proj", Role::kKvDown,
         {latent.kv_rank + latent.rope_dim}, n_.hidden, false);
  Linear(prefix + "linear_kv_up_proj", Role::kKvUp,
         {n_.heads * (latent.nope_dim + latent.v_dim)}, latent.kv_rank, false);
  if (!n_.qk_norm) return;
  if (latent.q_rank > 0) {
    NormOf(prefix + "q_layernorm", Role::kQLatentNorm, latent.q_rank);
  }
  NormOf(prefix + "kv_layernorm", Role::kKvLatentNorm, latent.kv_rank);
}

void Declaration::Attention(const std::string& prefix) {
  const int64_t value_dim =
      n_.latent.has_value() ? n_.latent->v_dim : n_.head_dim;
  Linear(prefix + "linear_proj", Role::kAttentionOut, {n_.hidden},
         n_.heads * value_dim, n_.bias);
  if (n_.latent.has_value()) {
    LatentProjections(prefix);
  } else {
    Qkv(prefix);
  }
}

void Declaration::Mamba(const std::string& prefix) {
  const MambaNumbers& mamba = *n_.mamba;
  const int64_t states = mamba.groups * mamba.state;
  const int64_t inner = mamba.inner();
  Add(prefix + "dt_bias", Role::kMambaDtBias, {mamba.heads});
  Add(prefix + "A_log", Role::kMambaALog, {mamba.heads});
  Add(prefix + "D", Role::kMambaD, {mamba.heads});
  Linear(prefix + "in_proj", Role::kMambaIn,
         {inner, inner, states, states, mamba.heads}, n_.hidden, false);
  const Extents channels = {inner, states, states};
  Add(prefix + "conv1d.weight", Role::kMambaConvolution, channels,
      {1, mamba.convolution});
  if (mamba.convolution_bias) {
    Add(prefix + "conv1d.bias", Role::kMambaConvolution, channels).bias = true;
  }
  // Always an RMS norm, whatever the other norms of the model are.
  Add(prefix + "norm.weight", Role::kMambaNorm, {inner});
  Linear(prefix + "out_proj", Role::kMambaOut, {n_.hidden}, inner, false);
}

void Declaration::Mlp(const std::string& prefix) {
  FeedForwardPair(prefix, Role::kFc1, Role::kFc2, n_.ffn, n_.bias);
}

void Declaration::Experts(const std::string& prefix) {
  const ExpertNumbers& experts = *n_.experts;
  Linear(prefix + "router", Role::kRouter, {experts.count}, n_.hidden, n_.bias);
  if (experts.correction) {
    Add(prefix + "router.expert_bias", Role::kRouterCorrection, {experts.count})
        .persistence = Persistence::kBuffer;
  }
  for (int64_t expert = 0; expert < experts.count; ++expert) {
    place_.expert = static_cast<int>(expert);
    FeedForwardPair(absl::StrCat(prefix, "experts.", expert, "."),
                    Role::kExpertFc1, Role::kExpertFc2, experts.ffn, n_.bias);
  }
  place_.expert.reset();
  if (experts.shared_ffn == 0) return;
  if (experts.shared_gate) {
    Add(prefix + "shared_experts.gate_weight", Role::kSharedGate, {1},
        {n_.hidden});
  }
  FeedForwardPair(prefix + "shared_experts.", Role::kSharedFc1,
                  Role::kSharedFc2, experts.shared_ffn, false);
}

void Declaration::Layer(const std::string& prefix, const LayerParts& parts) {
  if (parts.mixer == Mixer::kMamba) {
    Mamba(prefix + "mixer.");
    NormOf(prefix + "norm", Role::kMambaInputNorm, n_.hidden);
  } else if (parts.mixer == Mixer::kAttention) {
    NormOf(prefix + "input_layernorm", Role::kInputNorm, n_.hidden);
    Attention(prefix + "self_attention.");
  }
  if (parts.feed_forward == FeedForward::kNone) return;
  NormOf(prefix + "pre_mlp_layernorm", Role::kPreMlpNorm, n_.hidden);
  if (parts.feed_forward == FeedForward::kExperts) {
    Experts(prefix + "mlp.");
  } else {
    Mlp(prefix + "mlp.");
  }
}

void Declaration::Mtp(const std::string& prefix) {
  NormOf(prefix + "enorm", Role::kMtpEmbeddingNorm, n_.hidden);
  NormOf(prefix + "hnorm", Role::kMtpHiddenNorm, n_.hidden);
  Linear(prefix + "eh_proj", Role::kMtpProjection, {n_.hidden}, 2 * n_.hidden,
         false);
  Layer(prefix + "transformer_layer.", config_.mtp_layer());
  NormOf(prefix + "final_layernorm", Role::kMtpFinalNorm, n_.hidden);
}

void Declaration::Model() {
  Embedding();
  for (int64_t layer = 0; layer < n_.layers; ++layer) {
    place_.layer = static_cast<int>(layer);
    Layer(absl::StrCat("decoder.layers.", layer, "."), config_.layer(layer));
  }
  place_ = {};
  NormOf(
      n_.mamba.has_value() ? "decoder.final_norm" : "decoder.final_layernorm",
      Role::kFinalNorm, n_.hidden);
  for (int64_t mtp = 0; mtp < n_.mtp_layers; ++mtp) {
    place_.mtp = static_cast<int>(mtp);
    Mtp(absl::StrCat("mtp.layers.", mtp, "."));
  }
  place_ = {};
  if (n_.tied) return;
  Add("output_layer.weight", Role::kOutputLayer, {n_.vocabulary}, {n_.hidden})
      .pad_from = n_.vocabulary;
}

}  // namespace

std::vector<ModelTensor> TensorsOf(const ModelConfig& config) {
  Declaration declaration(config);
  declaration.Model();
  return std::move(declaration).Take();
}

}  // namespace dynatrain::vps
