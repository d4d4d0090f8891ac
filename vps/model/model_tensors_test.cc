#include "vps/model/model_tensors.h"

#include <cstdint>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/presets.h"
#include "vps/model/random_config.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Texts(const ModelConfig& config) {
  std::vector<std::string> texts;
  for (const ModelTensor& tensor : TensorsOf(config)) {
    std::stringstream text;
    text << tensor;
    texts.push_back(text.str());
  }
  return texts;
}

// Of `config`, the one tensor of this name.
ModelTensor Named(const ModelConfig& config, absl::string_view name) {
  for (const ModelTensor& tensor : TensorsOf(config)) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << name << " is not there";
  return {};
}

TEST(ModelTensors, OfADenseModelStandInMegatronsOrder) {
  const ModelConfig config = *ModelConfig::Create({.hidden = 8,
                                                   .layers = 1,
                                                   .heads = 4,
                                                   .query_groups = 2,
                                                   .ffn = 16,
                                                   .vocabulary = 32});
  const std::string layer = "decoder.layers.0.";
  EXPECT_THAT(
      Texts(config),
      ElementsAre(
          "embedding.word_embeddings.weight [32, 8] word embedding",
          layer + "input_layernorm.weight [8] input norm",
          layer + "self_attention.linear_proj.weight [8, 8] attention out",
          layer + "self_attention.linear_qkv.weight [16, 8] qkv",
          layer + "pre_mlp_layernorm.weight [8] pre-mlp norm",
          layer + "mlp.linear_fc1.weight [32, 8] fc1",
          layer + "mlp.linear_fc2.weight [8, 16] fc2",
          "decoder.final_layernorm.weight [8] final norm",
          "output_layer.weight [32, 8] output layer"));
}

TEST(ModelTensors, AreStackedOfThePartsThatAreCutByThemselves) {
  const ModelConfig llama = *Preset("llama2-7b");
  EXPECT_THAT(Named(llama, "decoder.layers.31.mlp.linear_fc1.weight").blocks,
              ElementsAre(11008, 11008));
  EXPECT_THAT(
      Named(llama, "decoder.layers.0.self_attention.linear_qkv.weight").blocks,
      ElementsAre(3 * 4096));
  const ModelConfig hybrid =
      *ModelConfig::Create({.hidden = 8,
                            .layers = 1,
                            .vocabulary = 32,
                            .mamba = MambaNumbers{.pattern = "M",
                                                  .heads = 6,
                                                  .head_dim = 2,
                                                  .groups = 3,
                                                  .state = 5}});
  EXPECT_THAT(Named(hybrid, "decoder.layers.0.mixer.in_proj.weight").blocks,
              ElementsAre(12, 12, 15, 15, 6));
  EXPECT_THAT(Named(hybrid, "decoder.layers.0.mixer.conv1d.weight").blocks,
              ElementsAre(12, 15, 15));
}

TEST(ModelTensors, SayWhichLayerAndExpertTheyBelongTo) {
  const ModelConfig config = *Preset("deepseek-v3");
  const ModelTensor expert =
      Named(config, "decoder.layers.60.mlp.experts.255.linear_fc2.weight");
  EXPECT_EQ(expert.layer, 60);
  EXPECT_EQ(expert.expert, 255);
  EXPECT_EQ(expert.role, Role::kExpertFc2);
  const ModelTensor shared =
      Named(config, "decoder.layers.3.mlp.shared_experts.linear_fc1.weight");
  EXPECT_EQ(shared.expert, std::nullopt);
  const ModelTensor bias =
      Named(config, "mtp.layers.0.transformer_layer.mlp.router.expert_bias");
  EXPECT_EQ(bias.mtp, 0);
  EXPECT_EQ(bias.layer, std::nullopt);
  EXPECT_FALSE(bias.is_parameter());
}

// What its name, its place and its blocks say is the same.
void ExpectConsistent(const ModelTensor& tensor) {
  SCOPED_TRACE(tensor.name);
  int64_t rows = 0;
  for (const int64_t block : tensor.blocks) rows += block;
  EXPECT_EQ(rows, tensor.shape[0]);
  EXPECT_GT(tensor.num_elements(), 0);
  const std::vector<std::string> parts = absl::StrSplit(tensor.name, '.');
  const bool in_layer = parts[1] == "layers";
  EXPECT_EQ(tensor.layer.has_value(), in_layer && parts[0] == "decoder");
  EXPECT_EQ(tensor.mtp.has_value(), in_layer && parts[0] == "mtp");
  if (in_layer) {
    EXPECT_EQ(parts[2], absl::StrCat(*(tensor.layer.has_value() ? tensor.layer
                                                                : tensor.mtp)));
  }
  const std::string expert =
      absl::StrCat(".experts.", tensor.expert.value_or(-1), ".");
  EXPECT_EQ(tensor.expert.has_value(),
            tensor.name.find(expert) != std::string::npos);
  EXPECT_EQ(tensor.bias, parts.back() == "bias");
  EXPECT_EQ(tensor.pad_from.has_value(), tensor.role == Role::kWordEmbedding ||
                                             tensor.role == Role::kOutputLayer);
  EXPECT_EQ(tensor.pad_from.value_or(rows), rows);
  EXPECT_EQ(tensor.is_parameter(), tensor.role != Role::kRouterCorrection);
}

TEST(ModelTensors, OfAnyModelAreConsistentAndNamedOnce) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 1000; ++i) {
    CheckShrunk(
        RandomConfig(random), SmallerConfigs, [](const ModelConfig& config) {
          std::set<std::string> names;
          for (const ModelTensor& tensor : TensorsOf(config)) {
            ExpectConsistent(tensor);
            EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
            EXPECT_NE(RoleName(tensor.role), "");
          }
        });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps
