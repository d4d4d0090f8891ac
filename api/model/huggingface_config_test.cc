#include "api/model/huggingface_config.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/model_size.h"
#include "vps/model/presets.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json Public(const std::string& name) {
  std::ifstream file(
      absl::StrCat("api/model/testdata/huggingface/", name, ".json"));
  std::stringstream text;
  text << file.rdbuf();
  return *ParseJson(text.str());
}

vps::ModelConfig Read(const Json& json) {
  const auto config = ReadHuggingFaceConfig(json, "config.json");
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

// What is wrong with a public config in which `changes` are made.
std::string Why(const std::string& name, const Json& changes) {
  Json json = Public(name);
  json.merge_patch(changes);
  return std::string(
      ReadHuggingFaceConfig(json, "config.json").status().message());
}

TEST(HuggingFaceConfig, OfAPublicModelIsItsPreset) {
  const std::pair<const char*, const char*> table[] = {
      {"llama-2-7b", "llama2-7b"},
      {"llama-2-70b", "llama2-70b"},
      {"llama-3-8b", "llama3-8b"},
      {"mixtral-8x7b-v0.1", "mixtral-8x7b"},
      {"qwen3-30b-a3b", "qwen3-30b-a3b"},
      {"qwen3-235b-a22b", "qwen3-235b-a22b"},
      {"deepseek-v3", "deepseek-v3"},
  };
  for (const auto& [file, preset] : table) {
    EXPECT_EQ(Read(Public(file)).DebugString(),
              vps::Preset(preset)->DebugString())
        << file;
  }
}

TEST(HuggingFaceConfig, OfOtherPublicModelsHasThePublishedSize) {
  const std::pair<const char*, int64_t> table[] = {
      {"gpt2", 124'439'808},
      {"mistral-7b-v0.1", 7'241'732'096},
      {"qwen2.5-7b", 7'615'616'512},
      {"qwen3-8b", 8'190'735'360},
      {"nemotron-3-nano-30b-a3b", 31'577'937'344},
  };
  for (const auto& [file, parameters] : table) {
    EXPECT_EQ(vps::SizeOf(Read(Public(file))).main_parameters, parameters)
        << file;
  }
}

TEST(HuggingFaceConfig, WithOtherFormsOfAFieldIsTheSame) {
  const vps::ModelConfig hybrid = Read(Public("nemotron-3-nano-30b-a3b"));
  Json listed = Public("nemotron-3-nano-30b-a3b");
  for (const char symbol : hybrid->mamba->pattern) {
    listed["layers_block_type"].push_back(symbol == 'M'   ? "linear_attention"
                                          : symbol == '*' ? "full_attention"
                                                          : "moe");
  }
  listed.erase("hybrid_override_pattern");
  listed.erase("num_hidden_layers");
  listed["mamba_n_groups"] = 8;
  listed.erase("n_groups");
  EXPECT_EQ(Read(listed), hybrid);
  Json renamed = Public("deepseek-v3");
  renamed["num_mtp_layers"] = 1;
  renamed.erase("num_nextn_predict_layers");
  EXPECT_EQ(Read(renamed), Read(Public("deepseek-v3")));
}

TEST(HuggingFaceConfig, OfAnUnknownTypeNamesThoseThatAre) {
  EXPECT_EQ(
      Why("llama-2-7b", {{"model_type", "jamba"}}),
      "config.json.model_type: \"jamba\" is not supported; supported are "
      "deepseek_v3, gpt2, llama, mistral, mixtral, nemotron_h, qwen2, qwen3, "
      "qwen3_moe");
  EXPECT_THAT(Why("llama-2-7b", {{"model_type", "qwen3moe"}}),
              HasSubstr("; did you mean qwen3_moe?"));
  EXPECT_THAT(Why("llama-2-7b", {{"model_type", nullptr}}),
              HasSubstr("model_type: null is not supported"));
  EXPECT_EQ(ReadHuggingFaceConfig(Json::array(), "c").status().message(),
            "c: [] is not an object");
}

TEST(HuggingFaceConfig, RefusesWhatWouldChangeTheTensors) {
  EXPECT_THAT(Why("llama-2-7b", {{"num_extra_tokens", 4}}),
              HasSubstr("config.json.num_extra_tokens: is not a field here"));
  EXPECT_THAT(Why("llama-2-7b", {{"attention_bias", true}}),
              HasSubstr("mlp_bias: null differs from attention_bias"));
  EXPECT_THAT(Why("qwen3-8b", {{"attention_bias", true}}),
              HasSubstr("attention_bias: true is not supported for this "
                        "model_type; false is"));
  EXPECT_THAT(Why("qwen3-8b", {{"layer_types", {"linear_attention"}}}),
              HasSubstr("is not a list of full_attention and "
                        "sliding_attention"));
  EXPECT_THAT(Why("qwen3-30b-a3b", {{"mlp_only_layers", {0, 5}}}),
              HasSubstr("mlp_only_layers: [0,5] is not a list of the first "
                        "layers"));
  EXPECT_THAT(Why("deepseek-v3", {{"num_key_value_heads", 8}}),
              HasSubstr("num_key_value_heads: 8 differs from "
                        "num_attention_heads 128"));
  EXPECT_THAT(Why("nemotron-3-nano-30b-a3b", {{"moe_latent_size", 64}}),
              HasSubstr("moe_latent_size: 64 is not supported; null is"));
  EXPECT_THAT(Why("nemotron-3-nano-30b-a3b", {{"num_hidden_layers", 50}}),
              HasSubstr("mamba.pattern: 52 characters, but layers is 50"));
  EXPECT_THAT(Why("gpt2", {{"add_cross_attention", true}}),
              HasSubstr("add_cross_attention: true is not supported"));
}

TEST(HuggingFaceConfig, RefusesWhatIsMissingOrIllTyped) {
  EXPECT_EQ(Why("llama-2-7b", {{"hidden_size", nullptr}}),
            "model_type llama: config.json.hidden_size: is missing; it is an "
            "integer from 1");
  EXPECT_THAT(Why("llama-2-7b", {{"hidden_size", "4096"}}),
              HasSubstr("hidden_size: \"4096\" is not an integer in [1, "));
  EXPECT_THAT(Why("qwen3-8b", {{"head_dim", nullptr}}),
              HasSubstr("head_dim: is missing"));
  EXPECT_THAT(Why("llama-2-70b", {{"num_key_value_heads", 5}}),
              HasSubstr("query_groups: 5 does not divide heads 64; the nearest "
                        "that do are 4 and 8"));
}

}  // namespace
}  // namespace dynatrain::api
