#include "vps/layout/megatron/job_states.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::HasSubstr;

std::string Why(const std::vector<std::string>& states,
                bool precision_aware = false) {
  return std::string(
      CheckStates(*StateList::Parse(states),
                  *MegatronConfig::Create(
                      {.precision_aware_optimizer = precision_aware}))
          .message());
}

TEST(JobStates, AreWhatMegatronKeeps) {
  EXPECT_EQ(Why({"param:float32", "exp_avg:float32"}), "");
  EXPECT_EQ(Why({"param:bfloat16", "main:float32", "grad:bfloat16"}), "");
  EXPECT_EQ(Why({"param:bfloat16", "main:int16", "exp_avg:uint8"}, true), "");
  EXPECT_THAT(Why({"param:float32", "main:float32"}),
              HasSubstr("leave main out"));
  EXPECT_THAT(Why({"param:bfloat16", "exp_avg_sq:bfloat16"}),
              HasSubstr("exp_avg_sq:bfloat16 needs precision_aware_optimizer"));
}

TEST(JobStates, EightBitCodesLieInABufferOfBytes) {
  for (const char* codes : {"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
                            "float8_e5m2fnuz", "uint8"}) {
    const StateList states = *StateList::Parse({absl::StrCat("param:", codes)});
    EXPECT_EQ(BufferDtype({.role = Role::kFc1}, states), Dtype::kUint8);
  }
  const StateList mixed = *StateList::Preset("fp8");
  EXPECT_EQ(BufferDtype({.role = Role::kFc1}, mixed), Dtype::kUint8);
  EXPECT_EQ(BufferDtype({.role = Role::kInputNorm}, mixed), Dtype::kBfloat16);
}

}  // namespace
}  // namespace dynatrain::vps::megatron
