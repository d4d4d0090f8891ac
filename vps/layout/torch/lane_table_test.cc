#include "vps/layout/torch/lane_table.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Lane At(int64_t position) { return {.flat = {.position = position}}; }

// Over (tp, cp) of pp2,cp2,tp3: tp says where, cp does not.
class LaneTableTest : public ::testing::Test {
 protected:
  const Mesh mesh_ = *Mesh::Create({{"pp", 2}, {"cp", 2}, {"tp", 3}});
  const LaneTable table_ = {
      .axes = {2, 1}, .lanes = {At(9), At(9), At(6), At(6), At(6), At(6)}};
};

TEST_F(LaneTableTest, AnAxisMattersIfALaneChangesAlongIt) {
  EXPECT_THAT(AxesThatMatter(mesh_, table_), ElementsAre(2));
  EXPECT_THAT(AxesThatMatter(mesh_, LaneTable()), IsEmpty());
  LaneTable both = table_;
  both.lanes[5] = At(5);
  EXPECT_THAT(AxesThatMatter(mesh_, both), ElementsAre(2, 1));
}

TEST_F(LaneTableTest, TheSameOverOtherAxes) {
  EXPECT_EQ(OverAxes(mesh_, table_, {2}),
            (LaneTable{{2}, {At(9), At(6), At(6)}}));
  EXPECT_EQ(OverAxes(mesh_, table_, {0, 2}),
            (LaneTable{{0, 2}, {At(9), At(6), At(6), At(9), At(6), At(6)}}));
  EXPECT_EQ(OverAxes(mesh_, table_, {}), (LaneTable{{}, {At(9)}}));
}

}  // namespace
}  // namespace dynatrain::vps
