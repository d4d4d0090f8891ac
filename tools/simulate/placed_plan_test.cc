#include "tools/simulate/placed_plan.h"

#include <vector>

#include "gtest/gtest.h"
#include "tools/simulate/comparison.h"
#include "tools/simulate/paper_cases.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;

const ClusterModel kCluster =
    *ClusterModel::Create({.num_nodes = 4,
                           .ranks_per_node = 4,
                           .nics_per_node = 1,
                           .inside_bytes_per_second = 160'000'000'000,
                           .nic_bytes_per_second = 24'000'000'000});

std::vector<StrategyTime> Times(const Placed& from, const Placed& to) {
  return *Compare(*ModelByName("gpt3-1.3b"), from, to, kCluster, {});
}

// The same layout with its nodes the other way round: nothing has to move.
TEST(PlacedPlanTest, NodesThatChangePlacesStayWhereTheyAre) {
  const auto times =
      Times({{.tp = 2, .pp = 4}, {0, 1}}, {{.tp = 2, .pp = 4}, {1, 0}});
  const SwitchTime& placed = TimeOfStrategy(times, "dynatrain-placed");
  EXPECT_EQ(placed.network_bytes, 0);
  EXPECT_GT(TimeOfStrategy(times, "dynatrain").network_bytes, 0);
}

// Whatever changes.
TEST(PlacedPlanTest, IsNeverSlowerThanThePlan) {
  for (const Placed& to :
       {Placed{{.tp = 4}, {0, 1, 2, 3}}, Placed{{.tp = 2, .pp = 2}, {3, 2}},
        Placed{{.tp = 2, .pp = 4}, {2, 3}}}) {
    const auto times = Times({{.tp = 2, .pp = 2}, {0, 1}}, to);
    EXPECT_LE(TimeOfStrategy(times, "dynatrain-placed").ns(),
              TimeOfStrategy(times, "dynatrain").ns());
  }
}

}  // namespace
}  // namespace dynatrain::simulate
