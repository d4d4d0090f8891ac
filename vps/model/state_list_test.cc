#include "vps/model/state_list.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/model_tensors.h"
#include "vps/model/presets.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int64_t Bytes(const StateList& states, absl::string_view preset,
              StatePlacement placement) {
  int64_t bytes = 0;
  for (const ModelTensor& tensor : TensorsOf(*Preset(preset))) {
    // What is published are the sizes without multi-token prediction.
    if (!tensor.mtp.has_value()) bytes += states.Bytes(tensor, placement);
  }
  return bytes;
}

struct OptimizerBytes {
  const char* model;
  int64_t gibibytes;
};

// MEGATRON_LAYOUT, section 8: "fp32 main+m+v (12 B/param)", to the nearest GiB
// (its 146 for llama2-13b is 145.46).
constexpr OptimizerBytes kTable[] = {
    {"llama2-7b", 75},     {"llama2-13b", 145},    {"llama2-70b", 771},
    {"gpt3-175b", 1951},   {"qwen3-30b-a3b", 341}, {"qwen3-235b-a22b", 2627},
    {"deepseek-v3", 7499},
};

TEST(StateList, OfMixedPrecisionHasTwelveOptimizerBytesPerParameter) {
  const StateList states = *StateList::Preset("bf16-mixed");
  for (const OptimizerBytes& row : kTable) {
    const int64_t bytes = Bytes(states, row.model, StatePlacement::kOptimizer);
    EXPECT_EQ((bytes + (1 << 29)) >> 30, row.gibibytes) << row.model;
  }
}

// The published checkpoint: linear weights in 8 bits with one float32 scale per
// block of 128 x 128; "F32" counts 41,555,600 elements, of which 15,104 are
// expert biases. The projection of the prediction layer is in bfloat16 there.
TEST(StateList, OfBlocksHasTheScalesOfTheDeepseekCheckpoint) {
  const StateList states = *StateList::Preset("fp8-block");
  const StateClass& codes = states.states()[0];
  const StateClass& scales = states.states()[1];
  int64_t code_bytes = 0, scale_elements = 0, buffers = 0;
  for (const ModelTensor& tensor : TensorsOf(*Preset("deepseek-v3"))) {
    if (!tensor.is_parameter()) buffers += tensor.num_elements();
    if (tensor.role == Role::kMtpProjection) continue;
    code_bytes += StateBytes(tensor, codes);
    scale_elements += StateBytes(tensor, scales) / 4;
  }
  EXPECT_EQ(code_bytes, 680'571'043'840);
  EXPECT_EQ(scale_elements + buffers, 41'555'600);
}

TEST(StateList, PresetsHaveTheirDtypes) {
  const auto text = [](absl::string_view name) {
    return StateList::Preset(name)->DebugString();
  };
  EXPECT_EQ(text("fp32"),
            "param:float32, exp_avg:float32, exp_avg_sq:float32, "
            "buffer:float32");
  EXPECT_EQ(text("bf16-mixed"),
            "param:bfloat16, main:float32, exp_avg:float32, "
            "exp_avg_sq:float32, buffer:float32");
  EXPECT_EQ(text("precision-aware"),
            "param:bfloat16, main:int16, exp_avg:bfloat16, "
            "exp_avg_sq:bfloat16, buffer:float32");
  EXPECT_EQ(text("fp8"),
            "param:uint8, scale_inv:float32, param:bfloat16, main:float32, "
            "exp_avg:float32, exp_avg_sq:float32, buffer:float32");
  for (const absl::string_view name : StateList::PresetNames()) {
    EXPECT_TRUE(StateList::Preset(name).ok()) << name;
  }
}

TEST(StateList, IsWhatItsTextsSay) {
  EXPECT_EQ(*StateList::Parse({"param:bfloat16", "main:float32",
                               "exp_avg:float32", "exp_avg_sq:float32"}),
            *StateList::Preset("bf16-mixed"));
  const StateList own = *StateList::Parse({"param:float32", "momentum:float32",
                                           "grad:bfloat16", "buffer:bfloat16"});
  std::vector<StatePlacement> placements;
  for (const StateClass& state : own.states()) {
    placements.push_back(state.placement);
  }
  EXPECT_THAT(placements,
              ElementsAre(StatePlacement::kModel, StatePlacement::kOptimizer,
                          StatePlacement::kGradient, StatePlacement::kModel));
}

// Each parameter has one weight, in 8 bits or not.
TEST(StateList, OfEightBitsGivesEachParameterOneParam) {
  const StateList states = *StateList::Preset("fp8");
  for (const ModelTensor& tensor : TensorsOf(*Preset("mixtral-8x7b"))) {
    int params = 0;
    for (const StateClass& state : states.states()) {
      if (!HasState(tensor, state)) continue;
      params += state.name == "param" ? 1 : 0;
    }
    EXPECT_EQ(params, 1) << tensor;
  }
}

TEST(StateList, RefusesNamingTheState) {
  const auto why = [](std::vector<std::string> texts) {
    return std::string(StateList::Parse(texts).status().message());
  };
  EXPECT_THAT(why({}), HasSubstr("\"param\" is missing"));
  EXPECT_THAT(why({"param"}), HasSubstr("\"param\" is not name:dtype"));
  EXPECT_THAT(why({"param:bf16"}), HasSubstr("\"bf16\" is unknown; known are"));
  EXPECT_THAT(why({":float32"}), HasSubstr("a name is empty"));
  EXPECT_THAT(why({"param:float32", "m:int8", "m:int8"}),
              HasSubstr("\"m\" is there twice"));
  EXPECT_THAT(std::string(StateList::Preset("fp4").status().message()),
              HasSubstr("\"fp4\" is no preset; there are fp32, bf16-mixed"));
}

TEST(StateList, RefusesBlocksOfWhatIsNoMatrix) {
  StateClass scales = OrdinaryState("s", Dtype::kFloat32);
  scales.granularity = Granularity::PerBlock(128, 128);
  const auto why = [&] {
    return std::string(
        StateList::Create({OrdinaryState("param", Dtype::kUint8), scales})
            .status()
            .message());
  };
  EXPECT_THAT(why(), HasSubstr("only the quantized matrices have blocks"));
  scales.owners = StateOwners::kQuantized;
  scales.granularity.rows = 0;
  EXPECT_THAT(why(), HasSubstr("a block of 0 x 128"));
}

}  // namespace
}  // namespace dynatrain::vps
