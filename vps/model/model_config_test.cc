#include "vps/model/model_config.h"

#include <functional>
#include <random>
#include <string>

#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/presets.h"
#include "vps/model/random_config.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

ModelNumbers Small() {
  return {.hidden = 8, .layers = 4, .heads = 4, .ffn = 16, .vocabulary = 32};
}

TEST(ModelConfig, FillsInWhatFollows) {
  const ModelConfig config = *ModelConfig::Create(Small());
  EXPECT_EQ(config->query_groups, 4);
  EXPECT_EQ(config->head_dim, 2);
  EXPECT_EQ(config.qkv_rows(), 24);
  EXPECT_EQ(config.DebugString(),
            "hidden 8, layers 4, heads 4, query_groups 4, head_dim 2, ffn 16, "
            "vocabulary 32, rms norm, gated");
}

void ExpectCountedLayers(const ModelConfig& config) {
  for (const Mixer mixer : {Mixer::kNone, Mixer::kAttention, Mixer::kMamba}) {
    int64_t count = 0;
    for (int64_t l = 0; l < config->layers; ++l) {
      count += config.layer(l).mixer == mixer;
    }
    EXPECT_EQ(config.CountLayers(mixer), count);
  }
  for (const FeedForward feed_forward :
       {FeedForward::kNone, FeedForward::kDense, FeedForward::kExperts}) {
    int64_t count = 0;
    for (int64_t l = 0; l < config->layers; ++l) {
      count += config.layer(l).feed_forward == feed_forward;
    }
    EXPECT_EQ(config.CountLayers(feed_forward), count);
  }
}

TEST(ModelConfig, CountsTheLayersThatHaveAPart) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 2000; ++i) {
    CheckShrunk(RandomConfig(random), SmallerConfigs, ExpectCountedLayers);
    if (HasFailure()) return;
  }
}

TEST(ModelConfig, OfItsOwnNumbersIsItself) {
  std::mt19937_64 random = TestRandom(2);
  for (int i = 0; i < 500; ++i) {
    CheckShrunk(RandomConfig(random), SmallerConfigs,
                [](const ModelConfig& config) {
                  EXPECT_EQ(*ModelConfig::Create(config.numbers()), config);
                });
    if (HasFailure()) return;
  }
  for (const absl::string_view name : PresetNames()) {
    EXPECT_EQ(*ModelConfig::Create(Preset(name)->numbers()), *Preset(name));
  }
}

struct Refused {
  std::function<void(ModelNumbers&)> change;
  const char* why;
};

void ExpectRefused(const ModelNumbers& base, const Refused& row) {
  ModelNumbers numbers = base;
  row.change(numbers);
  const auto config = ModelConfig::Create(numbers);
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument)
      << row.why;
  EXPECT_THAT(std::string(config.status().message()), HasSubstr(row.why));
}

TEST(ModelConfig, RefusesNumbersNamingTheFieldAndTheNearest) {
  const Refused table[] = {
      {[](auto& n) { n.hidden = 0; }, "hidden: 0 is not in [1, 134217728]"},
      {[](auto& n) { n.layers = 20000; }, "layers: 20000 is not in [1, 16384]"},
      {[](auto& n) { n.vocabulary = -1; }, "vocabulary: -1 is not in [1, "},
      {[](auto& n) { n.positions = -1; }, "positions: -1 is not in [0, "},
      {[](auto& n) { n.heads = 0; }, "heads: 0 is not in [1, "},
      {[](auto& n) { n.heads = 3; },
       "head_dim is not given: heads: 3 does not divide hidden 8; the nearest "
       "that do are 2 and 4"},
      {[](auto& n) { n.query_groups = 3; },
       "query_groups: 3 does not divide heads 4; the nearest that do are 2 "
       "and 4"},
      {[](auto& n) { n.query_groups = 9; }, "the nearest that does is 4"},
      {[](auto& n) { n.ffn = 0; },
       "ffn: 0, but 4 layers have a dense feed-forward part"},
      {[](auto& n) { n.mtp_layers = -1; }, "mtp_layers: -1 is not in [0, "},
  };
  for (const Refused& row : table) ExpectRefused(Small(), row);
}

TEST(ModelConfig, RefusesExpertsThatDoNotFit) {
  ModelNumbers base = Small();
  base.experts = ExpertNumbers{.count = 4, .ffn = 8};
  const Refused table[] = {
      {[](auto& n) { n.experts->count = 0; }, "experts.count: 0 is not in"},
      {[](auto& n) { n.experts->ffn = 0; }, "experts.ffn: 0 is not in [1, "},
      {[](auto& n) { n.experts->first_dense = 5; },
       "experts.first_dense: 5 is not in [0, 4]"},
      {[](auto& n) { n.experts->frequency = 0; },
       "experts.frequency: 0 is not in [1, "},
      {[](auto& n) { n.experts->phase = 1; },
       "experts.phase: 1 is not in [0, 0]"},
      {[](auto& n) { n.experts->shared_gate = true; },
       "experts.shared_gate: true needs shared experts"},
      {[](auto& n) {
         n.experts->shared_ffn = 8;
         n.bias = true;
       },
       "bias: true does not go with shared experts"},
      {[](auto& n) { n.experts->count = 1 << 18; }, "at most 1048576 are"},
  };
  for (const Refused& row : table) ExpectRefused(base, row);
  // Biases are tensors too.
  base.experts->count = 100000;
  EXPECT_EQ(ModelConfig::Create(base).status(), absl::OkStatus());
  ExpectRefused(base, {[](auto& n) { n.bias = true; }, "at most 1048576 are"});
}

TEST(ModelConfig, RefusesNumbersOfAnotherAttentionBesideLatentOnes) {
  ModelNumbers base = Small();
  base.latent = LatentNumbers{
      .q_rank = 4, .kv_rank = 4, .nope_dim = 2, .rope_dim = 2, .v_dim = 2};
  const Refused table[] = {
      {[](auto& n) { n.latent->kv_rank = 0; }, "latent.kv_rank: 0 is not in"},
      {[](auto& n) { n.query_groups = 2; },
       "query_groups: 2 does not go with latent attention"},
      {[](auto& n) { n.head_dim = 2; }, "head_dim: 2 does not go with latent"},
      {[](auto& n) { n.qkv_bias = true; }, "qkv_bias: true does not go with"},
      {[](auto& n) { n.output_gate = true; }, "output_gate: true does not go"},
  };
  for (const Refused& row : table) ExpectRefused(base, row);
}

TEST(ModelConfig, RefusesAPatternThatIsNotTheLayers) {
  ModelNumbers base = Small();
  base.mamba = MambaNumbers{
      .pattern = "M*-M", .heads = 6, .head_dim = 2, .groups = 3, .state = 4};
  const Refused table[] = {
      {[](auto& n) { n.mamba->pattern = "M*-"; },
       "mamba.pattern: 3 characters, but layers is 4"},
      {[](auto& n) { n.mamba->pattern = "M*x-"; },
       "mamba.pattern: \"x\" at layer 2 is none of M (Mamba)"},
      {[](auto& n) { n.mamba->pattern = "M*-E"; },
       "mamba.pattern: an E needs experts"},
      {[](auto& n) { n.experts = ExpertNumbers{.count = 2, .ffn = 2}; },
       "mamba.pattern: no E although experts are given"},
      {[](auto& n) { n.mamba->pattern = "MMMM"; },
       "heads: 4 although no layer of mamba.pattern has attention"},
      {[](auto& n) { n.mamba->groups = 4; },
       "mamba.groups: 4 does not divide mamba.heads 6; the nearest that do "
       "are 3 and 6"},
      {[](auto& n) { n.mtp_layers = 1; },
       "mtp_layers: 1 does not go with a hybrid model"},
      {[](auto& n) {
         n.mamba->pattern = "E*-M";
         n.experts = ExpertNumbers{.count = 2, .ffn = 2, .first_dense = 1};
       },
       "are said by mamba.pattern"},
  };
  for (const Refused& row : table) ExpectRefused(base, row);
}

TEST(ModelConfig, RefusesWhatIsTooLargeAndNothingThatExists) {
  ModelNumbers numbers = Small();
  numbers.hidden = numbers.ffn = ModelConfig::kMaxExtent;
  numbers.heads = 1;
  EXPECT_THAT(std::string(ModelConfig::Create(numbers).status().message()),
              HasSubstr("the model is too large: up to 160 tensors"));
  // Ten times as wide and deep, and with four times the experts of any model.
  numbers = Preset("deepseek-v3")->numbers();
  numbers.hidden = 1 << 17;
  numbers.layers = 512;
  numbers.experts->count = 1000;
  EXPECT_EQ(ModelConfig::Create(numbers).status(), absl::OkStatus());
}

}  // namespace
}  // namespace dynatrain::vps
