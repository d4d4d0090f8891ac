// ModelTensor: a parameter or persistent buffer of a model, whole: what it is
// called, how large it is and what it is for. How it is cut, and where it
// lives, is decided by a mapping (vps/layout/...), from the role.
#ifndef VPS_MODEL_MODEL_TENSOR_H_
#define VPS_MODEL_MODEL_TENSOR_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace dynatrain::vps {

// What a tensor is for. Weight and bias of one module share a role. In the
// comments: h hidden, d head_dim, H heads, G query groups, E experts, V
// vocabulary; the shape is the weight's, the module is Megatron's.
enum class Role : uint8_t {
  kWordEmbedding,      // [V, h] embedding.word_embeddings
  kPositionEmbedding,  // [positions, h] embedding.position_embeddings
  kOutputLayer,        // [V, h] output_layer; absent if tied

  kInputNorm,   // [h] input_layernorm, before attention
  kPreMlpNorm,  // [h] pre_mlp_layernorm, before a feed-forward part
  kFinalNorm,   // [h] decoder.final_layernorm (a hybrid's final_norm)

  kAttentionOut,  // [h, H*d] self_attention.linear_proj (latent: H*v_dim)
  kQkv,           // [qkv_rows, h] linear_qkv, rows by query group: q.., k, v
  kQNorm,         // [d] q_layernorm
  kKNorm,         // [d] k_layernorm

  // Latent attention.
  kQ,             // [H*(nope+rope), h] linear_q_proj, if q_rank is 0
  kQDown,         // [q_rank, h] linear_q_down_proj
  kQUp,           // [H*(nope+rope), q_rank] linear_q_up_proj
  kKvDown,        // [kv_rank+rope, h] linear_kv_down_proj
  kKvUp,          // [H*(nope+v), kv_rank] linear_kv_up_proj
  kQLatentNorm,   // [q_rank] q_layernorm
  kKvLatentNorm,  // [kv_rank] kv_layernorm

  kFc1,               // [ffn or 2*ffn, h] mlp.linear_fc1
  kFc2,               // [h, ffn] mlp.linear_fc2
  kRouter,            // [E, h] mlp.router
  kRouterCorrection,  // [E] mlp.router.expert_bias, a buffer
  kExpertFc1,         // as kFc1, of one expert: mlp.experts.{e}.linear_fc1
  kExpertFc2,         // as kFc2
  kSharedGate,        // [1, h] mlp.shared_experts.gate_weight
  kSharedFc1,         // as kFc1: mlp.shared_experts.linear_fc1
  kSharedFc2,         // as kFc2

  // A Mamba block; n heads, c inner channels, g groups of s states.
  kMambaInputNorm,    // [h] norm, before the block
  kMambaDtBias,       // [n] mixer.dt_bias
  kMambaALog,         // [n] mixer.A_log
  kMambaD,            // [n] mixer.D
  kMambaIn,           // [2c+2gs+n, h] mixer.in_proj, rows z, x, B, C, dt
  kMambaConvolution,  // [c+2gs, 1, width] mixer.conv1d, rows x, B, C
  kMambaNorm,         // [c] mixer.norm, before the output projection
  kMambaOut,          // [h, c] mixer.out_proj

  // Multi-token prediction, around its transformer layer.
  kMtpEmbeddingNorm,  // [h] enorm
  kMtpHiddenNorm,     // [h] hnorm
  kMtpProjection,     // [h, 2h] eh_proj
  kMtpFinalNorm,      // [h] final_layernorm
};
inline constexpr int kNumRoles = static_cast<int>(Role::kMtpFinalNorm) + 1;

// "word embedding", "qkv", "expert fc1", ...
absl::string_view RoleName(Role role);

inline std::ostream& operator<<(std::ostream& out, Role role) {
  return out << RoleName(role);
}

enum class Persistence : uint8_t {
  kParameter,  // has gradient and optimizer state
  kBuffer,     // saved and carried, never optimized
};

struct ModelTensor {
  // Canonical: Megatron's name with global indices, for every framework
  // (docs/design/0002-space.md). Norms are named by themselves, never by the
  // linear layer that an implementation fuses them into.
  //   decoder.layers.{layer}.mlp.experts.{expert}.linear_fc1.weight
  //   mtp.layers.{mtp}.transformer_layer.self_attention.linear_qkv.weight
  std::string name;
  absl::InlinedVector<int64_t, 3> shape;
  Role role = Role::kWordEmbedding;
  // The bias of its module; else the weight, or the only tensor of its role.
  bool bias = false;
  Persistence persistence = Persistence::kParameter;
  // Index of the decoder layer, or of the multi-token prediction layer: at most
  // one of the two.
  std::optional<int> layer;
  std::optional<int> mtp;
  // Global index of the routed expert; only such tensors belong to the expert
  // mesh (shared experts and routers are dense).
  std::optional<int> expert;
  // Extents of the parts that are stacked along dim 0, each to be cut by
  // itself when dim 0 is cut: gate and up; z, x, B, C, dt. Their sum is
  // shape[0]; most tensors are one part.
  absl::InlinedVector<int64_t, 5> blocks;
  // The vocabulary tensors: rows of dim 0 from here on are padding that a
  // layout may add. The model itself has none: equal to shape[0].
  std::optional<int64_t> pad_from;

  int64_t num_elements() const;
  bool is_parameter() const { return persistence == Persistence::kParameter; }

  friend bool operator==(const ModelTensor&, const ModelTensor&) = default;
};

// "decoder.layers.0.mlp.linear_fc1.weight [22016, 4096] fc1".
std::ostream& operator<<(std::ostream& out, const ModelTensor& tensor);

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_MODEL_TENSOR_H_
