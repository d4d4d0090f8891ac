// Model families: which features the numbers of a model come with.
//
//   ModelNumbers numbers = FamilyFeatures(*ParseFamily("llama"));
//   numbers.hidden = 4096; ...
//   ModelConfig config = *ModelConfig::Create(numbers);
#ifndef VPS_MODEL_FAMILIES_H_
#define VPS_MODEL_FAMILIES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vps/model/model_config.h"

namespace dynatrain::vps {

enum class Family : uint8_t {
  kGpt3,         // LayerNorm, biases, GELU, learned positions, tied
  kLlama,        // RMSNorm, SwiGLU, grouped queries; also Mistral
  kQwen3,        // Llama with a norm on queries and keys
  kMixtral,      // Llama with experts in every layer
  kQwen3Moe,     // Qwen3 with experts
  kDeepseekV3,   // latent attention, shared experts, correction, dense first
  kMambaHybrid,  // Mamba-2, attention, feed-forward and experts by a pattern
};

// "gpt3", "llama", "qwen3", "mixtral", "qwen3-moe", "deepseek-v3" or
// "mamba-hybrid". Returns kInvalidArgument with the names that exist if `name`
// is none of them.
absl::StatusOr<Family> ParseFamily(absl::string_view name);

// The features that make the family; all sizes are 0. A part that the family
// has (experts, latent, mamba) is there, to be filled in.
ModelNumbers FamilyFeatures(Family family);

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_FAMILIES_H_
