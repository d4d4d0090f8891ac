#include "vps/model/presets.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/model_size.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

struct Published {
  const char* name;
  int64_t parameters;
};

// The published totals (MEGATRON_LAYOUT, section 8). That of DeepSeek-V3
// includes its 14,848 elements of expert_bias, which are a buffer to us.
constexpr Published kTable[] = {
    {"gpt3-1.3b", 1'315'723'264},         {"gpt3-2.7b", 2'651'553'280},
    {"gpt3-6.7b", 6'658'404'352},         {"gpt3-13b", 12'853'386'240},
    {"gpt3-175b", 174'604'259'328},       {"llama2-7b", 6'738'415'616},
    {"llama2-13b", 13'015'864'320},       {"llama2-70b", 68'976'648'192},
    {"llama3-8b", 8'030'261'248},         {"llama3-70b", 70'553'706'496},
    {"mixtral-8x7b", 46'702'792'704},     {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen3-235b-a22b", 235'093'634'560}, {"deepseek-v3", 671'026'419'200},
};

TEST(Presets, HaveThePublishedNumbersOfParameters) {
  std::vector<absl::string_view> names;
  for (const Published& row : kTable) {
    names.push_back(row.name);
    const ModelSize size = SizeOf(*Preset(row.name));
    EXPECT_EQ(size.main_parameters + size.main_buffers, row.parameters)
        << row.name;
    EXPECT_EQ(size.main_buffers,
              absl::string_view(row.name) == "deepseek-v3" ? 58 * 256 : 0);
  }
  EXPECT_EQ(PresetNames(), names);
}

// What Hugging Face counts in the published checkpoint: 3,918,786,560 elements
// in bfloat16 and 680,571,043,840 in float8. It holds the embedding and the
// output layer once more for the prediction layer.
TEST(Presets, OfDeepseekEqualThePublishedCheckpoint) {
  const ModelConfig config = *Preset("deepseek-v3");
  const ModelSize size = SizeOf(config);
  const int64_t again = 2 * config->vocabulary * config->hidden;
  EXPECT_EQ(size.parameters() + again, 3'918'786'560 + 680'571'043'840);
  EXPECT_EQ(size.mtp_parameters, 11'610'067'968);
  EXPECT_EQ(size.mtp_buffers, 256);
}

TEST(Presets, OfMixturesAreMostlyExperts) {
  const auto percent = [](const char* name) {
    ModelNumbers numbers = Preset(name)->numbers();
    numbers.mtp_layers = 0;
    const ModelSize size = SizeOf(*ModelConfig::Create(numbers));
    return 1e2 * static_cast<double>(size.expert_parameters) /
           static_cast<double>(size.parameters());
  };
  EXPECT_NEAR(percent("mixtral-8x7b"), 96.6, 0.05);
  EXPECT_NEAR(percent("qwen3-30b-a3b"), 95.0, 0.05);
  EXPECT_NEAR(percent("qwen3-235b-a22b"), 96.6, 0.05);
  EXPECT_NEAR(percent("deepseek-v3"), 97.4, 0.05);
}

TEST(Presets, ThatDoNotExistAreRefusedWithThoseThatDo) {
  const auto preset = Preset("llama4");
  EXPECT_EQ(preset.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(preset.status().message()),
              HasSubstr("\"llama4\" is no preset; there are gpt3-1.3b, "));
}

}  // namespace
}  // namespace dynatrain::vps
