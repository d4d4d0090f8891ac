#include "api/layout_file/deepspeed_section.h"

#include <string>

#include "api/json/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<vps::DeepSpeedJob> Read(const std::string& text) {
  return ReadDeepSpeedSection(*ParseJson(text), "deepspeed", {});
}

TEST(DeepSpeedSection, WithoutGroupsAllParametersAreOne) {
  const vps::DeepSpeedJob job = *Read(R"j({"stage": 2, "mesh": "tp2,dp4",
      "tensors": [{"name": "a", "shape": [8]},
                  {"name": "n", "shape": [], "states": ["buffer:int64"]},
                  {"name": "b", "shape": [8]}]})j");
  EXPECT_EQ(job.stage, 2);
  ASSERT_EQ(job.groups.size(), 1);
  EXPECT_THAT(job.groups[0].tensors, ElementsAre(0, 2));
  EXPECT_THAT(job.groups[0].axes, ElementsAre(1));
  EXPECT_EQ(job.sub_group_size, vps::kDefaultSubGroupSize);
}

TEST(DeepSpeedSection, ReadsAllFields) {
  const vps::DeepSpeedJob job = *Read(R"j({"stage": 3, "mesh": "edp2,ep2",
      "round_robin_gradients": true, "parameter_alignment": true,
      "sub_group_size": 100, "frozen_axes": ["edp", "ep"],
      "tensors": [{"name": "a", "shape": [8]}, {"name": "b", "shape": [8]}],
      "groups": [{"tensors": ["b"], "axes": ["edp"]},
                 {"tensors": ["a"], "axes": ["edp", "ep"]}]})j");
  EXPECT_TRUE(job.round_robin_gradients);
  EXPECT_TRUE(job.parameter_alignment);
  EXPECT_EQ(job.sub_group_size, 100);
  EXPECT_THAT(job.frozen_axes, ElementsAre(0, 1));
  EXPECT_THAT(job.groups[0].tensors, ElementsAre(1));
  EXPECT_THAT(job.groups[0].axes, ElementsAre(0));
  EXPECT_THAT(job.groups[1].axes, ElementsAre(0, 1));
}

TEST(DeepSpeedSection, RefusesWithThePathOfTheField) {
  const std::pair<std::string, const char*> table[] = {
      {"{}", "stage"},
      {R"j({"stage": 4, "mesh": "dp2", "tensors": []})j", "deepspeed.stage: 4"},
      {R"j({"stage": 1, "tensors": []})j", "deepspeed.mesh: is needed"},
      {R"j({"stage": 3, "mesh": "dp2", "tensors": [], "sub_group_size": 0})j",
       "deepspeed.sub_group_size: 0"},
      {R"j({"stage": 1, "mesh": "dp2", "tensors": [], "group": []})j",
       "did you mean groups"},
      {R"j({"stage": 1, "mesh": "dp2", "tensors": [],
           "groups": [{"tensors": ["a"]}]})j",
       "deepspeed.groups[0].tensors[0]: \"a\" names 0 of the tensors"},
      {R"j({"stage": 1, "mesh": "dp2", "tensors": [], "groups": [{}]})j",
       "deepspeed.groups[0]"},
  };
  for (const auto& [text, why] : table) {
    const absl::StatusOr<vps::DeepSpeedJob> job = Read(text);
    ASSERT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(job.status().message()), HasSubstr(why)) << text;
  }
}

}  // namespace
}  // namespace dynatrain::api
