#include "vps/model/model_tensors.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Names(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const ModelTensor& tensor : TensorsOf(config)) {
    names.push_back(tensor.name);
  }
  return names;
}

TEST(ModelTensors, OfADenseModelStandInMegatronsOrder) {
  const ModelConfig config = *ModelConfig::Create(
      {.hidden = 8, .layers = 1, .heads = 4, .ffn = 16, .vocabulary = 32});
  EXPECT_THAT(
      Names(config),
      ElementsAre("embedding.word_embeddings.weight",
                  "decoder.layers.0.input_layernorm.weight",
                  "decoder.layers.0.self_attention.linear_proj.weight",
                  "decoder.layers.0.self_attention.linear_qkv.weight",
                  "decoder.layers.0.pre_mlp_layernorm.weight",
                  "decoder.layers.0.mlp.linear_fc1.weight",
                  "decoder.layers.0.mlp.linear_fc2.weight",
                  "decoder.final_layernorm.weight", "output_layer.weight"));
}

}  // namespace
}  // namespace dynatrain::vps
