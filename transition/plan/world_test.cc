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
  EXPECT_THAT(world.RanksIn(Tier::kMember, 2), ElementsAre(0, 2));
  EXPECT_THAT(world.RanksIn(Tier::kMember, 3), ElementsAre());
  EXPECT_EQ(world.process(2), (Process{20, 2}));
}

TEST(World, KnowsRanksByWhereTheyRunIfThatIsKnown) {
  const World world = *World::Create(
      *vps::MakeLayout(vps::Mesh::Of(*vps::AxisSizes::Parse("dp3")),
                       vps::Manifest()),
      {{.id = 1, .device = 4, .node = 1, .rail = 2},
       {.id = 2, .node = 1},
       {.id = 3, .device = 5, .node = 2, .rail = 2}});
  EXPECT_THAT(world.RanksIn(Tier::kDevice, 5), ElementsAre(2));
  EXPECT_THAT(world.RanksIn(Tier::kNode, 1), ElementsAre(0, 1));
  EXPECT_THAT(world.RanksIn(Tier::kRail, 2), ElementsAre(0, 2));
  EXPECT_EQ(GroupOf(world.process(1), Tier::kRail), std::nullopt);
  EXPECT_THAT(world.RanksIn(Tier::kRail, 0), ElementsAre());
  EXPECT_EQ(GroupOf(world.process(1), Tier::kMember), 0);
  EXPECT_EQ(GroupOf(world.process(1), Tier::kAnywhere), 0);
}

TEST(World, MayBeEmpty) {
  const World world;
  EXPECT_TRUE(world.empty());
  EXPECT_EQ(world.size(), 0);
  EXPECT_TRUE(world.processes().empty());
  EXPECT_EQ(world.RankOf(1), std::nullopt);
  EXPECT_THAT(world.RanksIn(Tier::kMember, 0), ElementsAre());
}

TEST(World, RefusesProcessesThatDoNotFitTheLayout) {
  const std::pair<std::vector<Process>, const char*> table[] = {
      {{{1, 0}}, "world has 1 processes; layout pp1,rep1,dp2,ep1,tp1 needs 2"},
      {{{1, 0}, {0, 0}}, "process of rank 1 has id 0"},
      {{{7, 0}, {7, 1}}, "ranks 0 and 1 are the same process 7"},
  };
  for (const auto& [processes, why] : table) {
    const auto world = World::Create(
        *vps::MakeLayout(vps::Mesh::Of(*vps::AxisSizes::Parse("dp2")),
                         vps::Manifest()),
        processes);
    EXPECT_EQ(world.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(world.status().message()), HasSubstr(why));
  }
}

}  // namespace
}  // namespace dynatrain::transition
