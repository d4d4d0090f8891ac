#include "agent/runtime/ordered_world.h"

#include "api/rank/transition_order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/world.h"
#include "vps/layout/manifest.h"

namespace dynatrain::runtime {
namespace {

using ::testing::ElementsAre;
using transition::Process;

TEST(OrderedWorldTest, RanksAreInTheOrderOfMembersAndKnowWhereTheyRun) {
  const vps::Manifest manifest = vps::Manifest::Create({}).value();
  const transition::World world =
      MakeWorld({.generation = 1,
                 .layout = "dp3",
                 .members = {{5, {{11, "a:1"}, {12, "a:2"}}, /*node=*/2},
                             {4, {{13, "b:1"}}}}},
                manifest)
          .value();
  EXPECT_THAT(world.processes(),
              ElementsAre(Process{.id = 11, .member = 5, .node = 2},
                          Process{.id = 12, .member = 5, .node = 2},
                          Process{.id = 13, .member = 4}));
}

TEST(OrderedWorldTest, AWorldWithoutMembersIsEmpty) {
  EXPECT_TRUE(MakeWorld({}, vps::Manifest::Create({}).value())->empty());
}

}  // namespace
}  // namespace dynatrain::runtime
