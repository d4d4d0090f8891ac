#include "tools/simulate/shape.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/simulate/paper_cases.h"

namespace dynatrain::simulate {
namespace {

using ::testing::HasSubstr;

TEST(ShapeTest, OneShapeServesEverySizeThatItDivides) {
  const Shape shape = *Shape::Parse("pp4,tp8");
  EXPECT_EQ(shape.DataParallel(128), 4);
  EXPECT_EQ(shape.DataParallel(96), 3);
  EXPECT_EQ(shape.DataParallel(120), 0);
  EXPECT_EQ(shape.DataParallel(0), 0);
  EXPECT_EQ(shape.ToString(128), "tp8,pp4,dp4");
  EXPECT_EQ(shape.ToString(), "tp8,pp4");
}

TEST(ShapeTest, ADataParallelSizeFixesTheRanks) {
  const Shape shape = *Shape::Parse("tp2,dp3");
  EXPECT_EQ(shape.DataParallel(6), 3);
  EXPECT_EQ(shape.DataParallel(8), 0);
}

TEST(ShapeTest, ExpertsDivideTheRanksToo) {
  const Shape shape = *Shape::Parse("tp4,pp2,ep8,etp1");
  EXPECT_EQ(shape.DataParallel(16), 2);
  EXPECT_EQ(shape.DataParallel(24), 0) << "24 is no multiple of 1 * 8 * 2";
  EXPECT_EQ(shape.expert_replica(), 16);
  EXPECT_EQ(Shape::Parse("tp4,ep2")->expert_replica(), 8);
}

TEST(ShapeTest, WhatIsWrongIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "an entry is empty"},
      {"tp", "\"tp\" needs a whole number"},
      {"xp2", "\"xp2\" is no entry of a layout"},
      {"tp0", "\"tp0\" is out of range"},
      {"tp8,tp8", "\"tp8\" is the second tp"},
      {"tp1048576,pp1048576", "has more than 1048576 ranks"},
      {"tp8,first11", "\"first11\" is no axis (tp, pp, dp, cp, ep, etp)"},
  };
  for (const auto& [text, message] : wrong) {
    const auto shape = Shape::Parse(text);
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_THAT(shape.status().message(), HasSubstr(message));
  }
}

// 94 layers on 8 stages: 11, 6 x 12, 11.
TEST(ShapeTest, UnevenStagesAreSpread) {
  const JobModel model = *ModelByName("qwen3-235b-a22b");
  const auto job = LayOut(model, {.pp = 8}, true, 8);
  ASSERT_TRUE(job.ok()) << job.status();
  std::vector<int> layers(8);
  const vps::Layout& layout = job->layout;
  for (int i = 0; i < layout.num_tensors(); ++i) {
    const std::string& name = layout.tensor(i).name();
    if (layout.tensor(i).state() != "param" ||
        name.find("linear_proj.weight") == std::string::npos) {
      continue;
    }
    ++layers[layout.FirstRank(i, 0)];
  }
  EXPECT_THAT(layers, testing::ElementsAre(11, 12, 12, 12, 12, 12, 12, 11));
}

}  // namespace
}  // namespace dynatrain::simulate
