#include "tools/cli/tensor_place.h"

#include <gtest/gtest.h>

#include <string>

namespace dynatrain::cli {
namespace {

struct Case {
  const char* name;
  const char* block;
  int layer;
  const char* module;
  int expert;
  const char* rest;
};

TEST(TensorPlaceTest, ReadsNamesOfAnyFramework) {
  const Case cases[] = {
      {"decoder.layers.3.mlp.experts.7.linear_fc1.weight", "decoder.layers.3",
       3, "mlp.experts", 7, "linear_fc1.weight"},
      {"decoder.layers.3.mlp.experts.local_experts.7.linear_fc1.weight",
       "decoder.layers.3", 3, "mlp.experts.local_experts", 7,
       "linear_fc1.weight"},
      {"decoder.layers.12.self_attention.linear_qkv.weight",
       "decoder.layers.12", 12, "self_attention", -1, "linear_qkv.weight"},
      {"decoder.layers.0.mlp.router.weight", "decoder.layers.0", 0, "mlp", -1,
       "router.weight"},
      {"embedding.word_embeddings.weight", "", -1, "embedding", -1,
       "word_embeddings.weight"},
      {"mtp.layers.0.enorm.weight", "mtp.layers.0", 0, "enorm", -1, "weight"},
      {"transformer.h.5.attn.c_attn.bias", "transformer.h.5", 5, "attn", -1,
       "c_attn.bias"},
      {"layers.1.weight", "layers.1", 1, "", -1, "weight"},
      {"blocks.2", "blocks.2", 2, "", -1, ""},
      {"weight", "", -1, "", -1, "weight"},
      {"experts.4.w", "", -1, "experts", 4, "w"},
      {"", "", -1, "", -1, ""},
  };
  for (const Case& c : cases) {
    const TensorPlace place = PlaceOf(c.name);
    EXPECT_EQ(place.block, c.block) << c.name;
    EXPECT_EQ(place.layer, c.layer) << c.name;
    EXPECT_EQ(place.module, c.module) << c.name;
    EXPECT_EQ(place.expert, c.expert) << c.name;
    EXPECT_EQ(place.rest, c.rest) << c.name;
    const std::string prefix = place.block.empty() ? "" : place.block + ".";
    if (!place.InLayer().empty()) {
      EXPECT_EQ(prefix + place.InLayer(), c.name);
    }
  }
}

}  // namespace
}  // namespace dynatrain::cli
