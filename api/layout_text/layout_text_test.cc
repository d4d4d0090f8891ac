#include "api/layout_text/layout_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/layout_file/layout_file.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;

TEST(LayoutTextTest, EntriesComeInAnyOrder) {
  const LayoutText text = *LayoutText::Parse("dp4,tp8,pp2,zero0");
  EXPECT_EQ(text.Get("tp"), 8);
  EXPECT_EQ(text.Get("ep"), std::nullopt);
  EXPECT_THAT(text.names(), testing::ElementsAre("dp", "tp", "pp", "zero"));
  EXPECT_EQ(text.world_size(), 64);
  EXPECT_EQ(text.With("cp", 2).With("ep", 2).world_size(), 128);
  EXPECT_EQ(text.ToString(), "dp4,tp8,pp2,zero0");
  EXPECT_EQ(text.With("tp", 4).With("ep", 2).ToString(),
            "dp4,tp4,pp2,zero0,ep2");
}

TEST(LayoutTextTest, IsWhatALayoutFileSays) {
  const LayoutText text = *LayoutText::Parse(
      "tp4,pp8,cp2,ep8,etp1,vpp2,first5,last6,instances2,"
      "world128");
  EXPECT_EQ(text.world_size(), 128);
  EXPECT_EQ(text.ToFile("llama2-70b", "bf16-mixed"), nlohmann::json::parse(R"({
    "model": "llama2-70b", "framework": "megatron", "world": 128,
    "parallelism": {"tp": 4, "pp": 8, "cp": 2, "ep": 8, "etp": 1, "vpp": 2},
    "megatron": {"first_stage_layers": 5, "last_stage_layers": 6,
                 "optimizer_instances": 2},
    "states": "bf16-mixed"})"));
}

TEST(LayoutTextTest, GivesALayout) {
  const auto load = [](const char* text) {
    return LoadLayoutTree(
        LayoutText::Parse(text)->ToFile("llama2-7b", "bf16-mixed"),
        [](absl::string_view path) { return absl::NotFoundError(path); });
  };
  const LoadedLayout sharded = *load("tp2,pp2,dp2");
  EXPECT_EQ(sharded.layout.world_size(), 8);
  const char* norm = "decoder.layers.0.input_layernorm.weight";
  const auto holders = [&](const LoadedLayout& loaded) {
    const int tensor = *loaded.layout.Find(norm, "main");
    return loaded.layout.Owners(tensor, 0, {0}).size();
  };
  EXPECT_EQ(holders(sharded), 2) << "tp, each its own ZeRO shard";
  EXPECT_EQ(holders(*load("tp2,pp2,dp2,zero0")), 4);
}

TEST(LayoutTextTest, ErrorsNameTheEntryAndWhatWasMeant) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "an entry is empty; write it like tp8,pp4,dp4"},
      {"tp8,,pp2", "an entry is empty"},
      {"tp8,", "an entry is empty"},
      {"tpp8", "\"tpp8\" is no entry of a layout; did you mean"},
      {"qqqq3", "there are tp, pp, dp,"},
      {"8", "\"8\" is no entry of a layout"},
      {"tp", "\"tp\" needs a whole number: tp4"},
      {"tp08", "\"tp08\" needs a whole number"},
      {"tp8x", "needs a whole number"},
      {"tp 8", "is no entry of a layout; did you mean tp?"},
      {"tp99999999999999999999", "needs a whole number"},
      {"tp0", "\"tp0\" is out of range; tp is 1 to 1048576"},
      {"zero2", "zero is 0 to 1"},
      {"tp2,tp4", "\"tp4\" is the second tp"},
      {"dp2,world8", "has both dp and world"},
      {"tp1048576,pp1048576,dp1048576,cp1048576", "has more than 1048576"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(LayoutText::Parse(test.text).status().message(),
                HasSubstr(test.message))
        << test.text;
  }
}

TEST(LayoutTextTest, IsNoPath) {
  EXPECT_TRUE(LayoutText::Is("tp8,pp4"));
  EXPECT_TRUE(LayoutText::Is("tp7x"));
  EXPECT_FALSE(LayoutText::Is("job.yaml"));
  EXPECT_FALSE(LayoutText::Is("folder/job"));
  EXPECT_FALSE(LayoutText::Is("-"));
}

}  // namespace
}  // namespace dynatrain::api
