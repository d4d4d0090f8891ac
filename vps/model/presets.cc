#include "vps/model/presets.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vps/model/families.h"

namespace dynatrain::vps {
namespace {

ModelNumbers Gpt3(int64_t hidden, int64_t layers, int64_t heads) {
  ModelNumbers n = FamilyFeatures(Family::kGpt3);
  n.hidden = hidden;
  n.layers = layers;
  n.heads = heads;
  n.ffn = 4 * hidden;
  n.vocabulary = 50257;
  n.positions = 2048;
  return n;
}

struct Body {
  int64_t hidden, layers, heads, query_groups, ffn, vocabulary;
};

ModelNumbers Like(Family family, const Body& body) {
  ModelNumbers n = FamilyFeatures(family);
  n.hidden = body.hidden;
  n.layers = body.layers;
  n.heads = body.heads;
  n.query_groups = body.query_groups;
  n.ffn = body.ffn;
  n.vocabulary = body.vocabulary;
  n.head_dim = 128;
  return n;
}

ModelNumbers WithExperts(ModelNumbers n, int64_t count, int64_t ffn) {
  n.experts->count = count;
  n.experts->ffn = ffn;
  return n;
}

ModelNumbers DeepseekV3() {
  ModelNumbers n = WithExperts(
      Like(Family::kDeepseekV3, {7168, 61, 128, 0, 18432, 129280}), 256, 2048);
  n.head_dim = 0;
  n.experts->shared_ffn = 2048;
  n.experts->first_dense = 3;
  n.latent = LatentNumbers{.q_rank = 1536,
                           .kv_rank = 512,
                           .nope_dim = 128,
                           .rope_dim = 64,
                           .v_dim = 128};
  n.mtp_layers = 1;
  return n;
}

struct Row {
  absl::string_view name;
  ModelNumbers numbers;
};

// From the models' config.json and Megatron's examples. Where every layer has
// experts, ffn is the width that the public config names and nothing uses.
const std::vector<Row>& Rows() {
  static const auto& rows = *new std::vector<Row>{
      {"gpt3-1.3b", Gpt3(2048, 24, 16)},
      {"gpt3-2.7b", Gpt3(2560, 32, 32)},
      {"gpt3-6.7b", Gpt3(4096, 32, 32)},
      {"gpt3-13b", Gpt3(5120, 40, 40)},
      {"gpt3-175b", Gpt3(12288, 96, 96)},
      {"llama2-7b", Like(Family::kLlama, {4096, 32, 32, 32, 11008, 32000})},
      {"llama2-13b", Like(Family::kLlama, {5120, 40, 40, 40, 13824, 32000})},
      {"llama2-70b", Like(Family::kLlama, {8192, 80, 64, 8, 28672, 32000})},
      {"llama3-8b", Like(Family::kLlama, {4096, 32, 32, 8, 14336, 128256})},
      {"llama3-70b", Like(Family::kLlama, {8192, 80, 64, 8, 28672, 128256})},
      {"mixtral-8x7b",
       WithExperts(Like(Family::kMixtral, {4096, 32, 32, 8, 14336, 32000}), 8,
                   14336)},
      {"qwen3-30b-a3b",
       WithExperts(Like(Family::kQwen3Moe, {2048, 48, 32, 4, 6144, 151936}),
                   128, 768)},
      {"qwen3-235b-a22b",
       WithExperts(Like(Family::kQwen3Moe, {4096, 94, 64, 4, 12288, 151936}),
                   128, 1536)},
      {"deepseek-v3", DeepseekV3()},
  };
  return rows;
}

}  // namespace

std::vector<absl::string_view> PresetNames() {
  std::vector<absl::string_view> names;
  for (const Row& row : Rows()) names.push_back(row.name);
  return names;
}

absl::StatusOr<ModelConfig> Preset(absl::string_view name) {
  for (const Row& row : Rows()) {
    if (row.name == name) return ModelConfig::Create(row.numbers);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", absl::CHexEscape(name.substr(0, 64)), "\" is no preset; there are ",
      absl::StrJoin(PresetNames(), ", ")));
}

}  // namespace dynatrain::vps
