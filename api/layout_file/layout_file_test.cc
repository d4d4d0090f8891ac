#include "api/layout_file/layout_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::api {
namespace {

absl::StatusOr<LoadedLayout> Load(absl::string_view text) {
  return LoadLayout(
      text, [](absl::string_view path) { return absl::NotFoundError(path); });
}

std::string Refusal(absl::string_view text) {
  return std::string(Load(text).status().message());
}

constexpr char kTorch[] = R"(framework: torch
version: "2.15.0"
model: tiny
world: 8
parallelism: {dp: 2, tp: 4}
states: [param:bfloat16, exp_avg:float32]
torch:
  tensors:
    - {name: w, shape: [8, 4], splits: [{axis: tp, dim: 0}]}
)";

TEST(LayoutFileTest, AMegatronJobIsItsModelUnderItsParallelism) {
  const LoadedLayout loaded = *Load(R"(
model: {preset: llama2-7b, layers: 2}
framework: megatron
world: 4
parallelism: {tp: 2, pp: 2}
megatron: {spec: local}
states: [param:float32]
)");
  EXPECT_EQ(loaded.model, "llama2-7b");
  EXPECT_EQ(loaded.framework, "megatron");
  EXPECT_EQ(loaded.framework_version, "0.16.1") << "the default";
  EXPECT_EQ(loaded.layout.world_size(), 4);
  const std::string name = "decoder.layers.1.input_layernorm.weight";
  const int norm = loaded.layout.Find(name, "param").value();
  EXPECT_FALSE(loaded.layout.IsAt(0, norm, 0));
  EXPECT_TRUE(loaded.layout.IsAt(2, norm, 0));
  EXPECT_EQ(loaded.live.name(2, norm, 0),
            "0/decoder.layers.0.input_layernorm.weight");
}

TEST(LayoutFileTest, ATorchJobTakesMeshAndStatesFromTheWholeFile) {
  const LoadedLayout loaded = *Load(kTorch);
  EXPECT_EQ(loaded.model, "tiny");
  EXPECT_EQ(loaded.framework, "torch");
  EXPECT_EQ(loaded.framework_version, "2.15.0");
  EXPECT_EQ(loaded.layout.world_size(), 8);
  EXPECT_EQ(loaded.layout.num_tensors(), 2);
  const int moment = loaded.layout.Find("w", "exp_avg").value();
  EXPECT_EQ(loaded.layout.tensor(moment).dtype(), vps::Dtype::kFloat32);
  // Four pieces, each on the two ranks of dp.
  EXPECT_EQ(loaded.layout.HoldersLike(0, moment, 0).size(), 2);
  EXPECT_EQ(loaded.live.name(5, moment, 0), "w");
}

TEST(LayoutFileTest, ADeepSpeedJobHasItsBuffers) {
  const LoadedLayout loaded = *Load(R"(
framework: deepspeed
states: [param:float32, main:float32]
deepspeed: {stage: 1, mesh: dp2, tensors: [{name: w, shape: [6]}]}
)");
  EXPECT_EQ(loaded.framework, "deepspeed");
  EXPECT_EQ(loaded.layout.world_size(), 2);
  EXPECT_TRUE(loaded.layout.Find("w", "main").has_value());
  EXPECT_FALSE(loaded.live.buffers(1).empty());
}

TEST(LayoutFileTest, RefusesWithLineFieldAndValue) {
  const std::string torch = kTorch;
  const auto changed = [&](absl::string_view was, absl::string_view is) {
    std::string text = torch;
    const size_t at = text.find(std::string(was));
    EXPECT_NE(at, std::string::npos) << was;
    return Refusal(text.replace(at, was.size(), std::string(is)));
  };
  EXPECT_EQ(changed("world: 8", "world: 4"),
            "line 4: world: 4 is not the size of the mesh, 8");
  EXPECT_EQ(changed("tp: 4", "cp: 4"),
            "line 5: parallelism.cp is no field here; did you mean dp?");
  EXPECT_THAT(changed("tp: 4", "tp: 0"),
              testing::StartsWith("line 5: parallelism.tp: 0 is not"));
  EXPECT_EQ(changed("torch:\n", "deepspeed:\n"), "torch is missing");
  EXPECT_EQ(changed("framework: torch", "framewrok: torch"),
            "framework is missing; is \"framewrok\" what was meant? (one of "
            "megatron, torch, deepspeed)");
  EXPECT_THAT(changed("framework: torch", "framework: listing"),
              testing::StartsWith("line 1: framework: \"listing\" is not"));
}

}  // namespace
}  // namespace dynatrain::api
