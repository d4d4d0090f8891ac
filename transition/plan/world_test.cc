#include "transition/plan/world.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/world_for_test.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(World, KnowsRanksByProcessAndMember) {
  const World world = WorldForTest("dp3", vps::Manifest(), {21, 10, 20});
  EXPECT_EQ(world.size(), 3);
  EXPECT_EQ(world.RankOf(10), 1);
  EXPECT_EQ(world.RankOf(11), std::nullopt);
  EXPECT_THAT(world.RanksOfMember(2), ElementsAre(0, 2));
  EXPECT_THAT(world.RanksOfMember(3), ElementsAre());
  EXPECT_EQ(world.process(2), (Process{20, 2}));
}

TEST(World, MayBeEmpty) {
  const World world;
  EXPECT_TRUE(world.empty());
  EXPECT_EQ(world.size(), 0);
  EXPECT_TRUE(world.processes().empty());
  EXPECT_EQ(world.RankOf(1), std::nullopt);
  EXPECT_THAT(world.RanksOfMember(0), ElementsAre());
}

TEST(World, RefusesProcessesThatDoNotFitTheLayout) {
  const std::pair<std::vector<Process>, const char*> table[] = {
      {{{1, 0}}, "world has 1 processes; layout pp1,rep1,dp2,ep1,tp1 needs 2"},
      {{{1, 0}, {0, 0}}, "process of rank 1 has id 0"},
      {{{7, 0}, {7, 1}}, "ranks 0 and 1 are the same process 7"},
  };
  for (const auto& [processes, why] : table) {
    const auto world = World::Create(
        *vps::MakeLayout(vps::Mesh::ForTorch(*vps::AxisSizes::Parse("dp2")),
                         vps::Manifest()),
        processes);
    EXPECT_EQ(world.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(world.status().message()), HasSubstr(why));
  }
}

}  // namespace
}  // namespace dynatrain::transition
