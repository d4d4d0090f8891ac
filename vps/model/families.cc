#include "vps/model/families.h"

#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dynatrain::vps {
namespace {

// In the order of the enum.
constexpr absl::string_view kNames[] = {
    "gpt3",      "llama",       "qwen3",        "mixtral",
    "qwen3-moe", "deepseek-v3", "mamba-hybrid",
};

}  // namespace

absl::StatusOr<Family> ParseFamily(absl::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Family>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CHexEscape(name.substr(0, 64)),
                   "\" is no family; there are ", absl::StrJoin(kNames, ", ")));
}

ModelNumbers FamilyFeatures(Family family) {
  switch (family) {
    case Family::kGpt3:
      return {.norm = Norm::kLayer, .tied = true, .gated = false, .bias = true};
    case Family::kLlama:
      return {};
    case Family::kQwen3:
      return {.qk_norm = true};
    case Family::kMixtral:
      return {.experts = ExpertNumbers{}};
    case Family::kQwen3Moe:
      return {.qk_norm = true, .experts = ExpertNumbers{}};
    case Family::kDeepseekV3:
      return {.qk_norm = true,
              .experts = ExpertNumbers{.correction = true},
              .latent = LatentNumbers{}};
    case Family::kMambaHybrid:
      // Nemotron-H: squared ReLU, so not gated.
      return {.gated = false, .mamba = MambaNumbers{}};
  }
  return {};
}

}  // namespace dynatrain::vps
