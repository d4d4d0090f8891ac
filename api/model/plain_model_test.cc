#include "api/model/plain_model.h"

#include <string>

#include "api/json/reader.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/presets.h"
#include "vps/model/random_config.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

vps::ModelConfig Read(const std::string& text) {
  const auto config = ReadPlainModel(*ParseJson(text), "model");
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

std::string Why(const std::string& text) {
  return std::string(
      ReadPlainModel(*ParseJson(text), "model").status().message());
}

TEST(PlainModel, IsAFamilyAndItsNumbers) {
  const vps::ModelConfig config = Read(R"({"family": "qwen3", "hidden": 64,
    "layers": 2, "heads": 4, "query_groups": 2, "ffn": 128, "vocabulary": 256,
    "tied": true})");
  EXPECT_EQ(config.DebugString(),
            "hidden 64, layers 2, heads 4, query_groups 2, head_dim 16, ffn "
            "128, vocabulary 256, rms norm, tied, gated, qk_norm");
}

TEST(PlainModel, MayReplaceNumbersOfAPreset) {
  const vps::ModelConfig config = Read(R"({"preset": "deepseek-v3",
    "layers": 4, "experts": {"count": 8}, "mtp_layers": 0})");
  vps::ModelNumbers numbers = vps::Preset("deepseek-v3")->numbers();
  numbers.layers = 4;
  numbers.experts->count = 8;
  numbers.mtp_layers = 0;
  EXPECT_EQ(config.numbers(), numbers);
}

TEST(PlainModel, IsReadAsItIsWritten) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 500; ++i) {
    const vps::ModelConfig config = vps::RandomConfig(random);
    const auto again = ReadPlainModel(WritePlainModel(config), "model");
    ASSERT_TRUE(again.ok()) << again.status() << config.DebugString();
    ASSERT_EQ(again->numbers(), config.numbers()) << config.DebugString();
  }
}

TEST(PlainModel, RefusesNamingTheFieldTheValueAndWhatWouldBeRight) {
  EXPECT_EQ(Why("3"),
            "model: is not an object, as {\"family\": \"llama\", \"hidden\": "
            "64, ...}");
  EXPECT_EQ(Why(R"({"hidden": 64})"),
            "model.family: is missing, and so is preset");
  EXPECT_EQ(Why(R"({"family": "llama", "preset": "llama2-7b"})"),
            "model.family: cannot stand beside preset; use one");
  EXPECT_THAT(Why(R"({"family": "lama"})"),
              HasSubstr("model.family: \"lama\" is no family; there are gpt3, "
                        "llama"));
  EXPECT_EQ(Why(R"({"family": 1})"), "model.family: 1 is not a text");
  EXPECT_EQ(Why(R"({"family": "llama", "hiden": 64})"),
            "model.hiden: is not a field here; did you mean hidden?");
  EXPECT_EQ(Why(R"({"family": "llama", "hidden": -1})"),
            "model.hidden: -1 is not an integer in [0, 134217728]");
  EXPECT_EQ(Why(R"({"family": "llama", "hidden": 1e9})"),
            "model.hidden: 1000000000.0 is not an integer in [0, 134217728]");
  EXPECT_EQ(Why(R"({"family": "llama", "norm": "batch"})"),
            "model.norm: \"batch\" is not one of rms, layer");
  EXPECT_EQ(Why(R"({"family": "mixtral", "experts": {"size": 1}})"),
            "model.experts.size: is not a field here; there are count, ffn, "
            "shared_ffn, shared_gate, correction, first_dense, frequency, "
            "phase");
  EXPECT_EQ(Why(R"({"family": "mixtral", "experts": 8})"),
            "model.experts: 8 is not an object");
  EXPECT_EQ(Why(R"({"preset": "llama2-70b", "query_groups": 5})"),
            "model: query_groups: 5 does not divide heads 64; the nearest that "
            "do are 4 and 8");
}

}  // namespace
}  // namespace dynatrain::api
