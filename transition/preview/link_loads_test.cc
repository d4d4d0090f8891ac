#include "transition/preview/link_loads.h"

#include <algorithm>
#include <random>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/schedule/lower_bounds.h"
#include "transition/schedule/traffic_patterns.h"

namespace dynatrain::transition {
namespace {

// Two nodes of two ranks that share a NIC.
ClusterModel TwoByTwo() {
  return *ClusterModel::Create({.num_nodes = 2,
                                .ranks_per_node = 2,
                                .nics_per_node = 1,
                                .inside_bytes_per_second = 100'000'000'000,
                                .nic_bytes_per_second = 10'000'000'000});
}

TEST(LinkLoadsTest, AFlowIsOnTheLinkItTakes) {
  const Traffic traffic =
      *Traffic::Create(4, {{0, 1, 5}, {0, 2, 7}, {1, 3, 11}});
  const LinkLoads loads = ComputeLinkLoads(traffic, TwoByTwo());
  EXPECT_EQ(loads.inside_bytes, 5);
  EXPECT_EQ(loads.between_bytes, 18);
  EXPECT_EQ(loads.inside[0], (PortBytes{5, 0}));
  EXPECT_EQ(loads.inside[1], (PortBytes{0, 5}));
  EXPECT_EQ(loads.nics[0], (PortBytes{18, 0}));
  EXPECT_EQ(loads.nics[1], (PortBytes{0, 18}));
  EXPECT_EQ(loads.nodes[0], (PortBytes{18, 0}));
  EXPECT_EQ(loads.nodes[1], (PortBytes{0, 18}));
}

TEST(LinkLoadsTest, TheBusiestAreTheLowerBounds) {
  std::mt19937_64 random = TestRandom(74);
  for (int i = 0; i < 50; ++i) {
    const Traffic traffic = RandomSkewedTraffic(32, random);
    const ClusterModel cluster =
        *ClusterModel::Create({.num_nodes = 8,
                               .ranks_per_node = 4,
                               .nics_per_node = i % 2 == 0 ? 2 : 4,
                               .inside_bytes_per_second = 100'000'000'000,
                               .nic_bytes_per_second = 10'000'000'000});
    const LinkLoads loads = ComputeLinkLoads(traffic, cluster);
    const LowerBounds bounds = ComputeLowerBounds(traffic, cluster);
    const auto busiest = [](const std::vector<PortBytes>& ports) {
      PortBytes most;
      for (const PortBytes& port : ports) {
        most.out_bytes = std::max(most.out_bytes, port.out_bytes);
        most.in_bytes = std::max(most.in_bytes, port.in_bytes);
      }
      return most;
    };
    EXPECT_EQ(busiest(loads.inside), (PortBytes{bounds.max_inside_out.bytes,
                                                bounds.max_inside_in.bytes}));
    EXPECT_EQ(busiest(loads.nics),
              (PortBytes{bounds.max_nic_out.bytes, bounds.max_nic_in.bytes}));
    EXPECT_EQ(busiest(loads.nodes),
              (PortBytes{bounds.max_node_out.bytes, bounds.max_node_in.bytes}));
    EXPECT_EQ(loads.between_bytes, bounds.between_bytes);
    EXPECT_EQ(loads.inside_bytes + loads.between_bytes, bounds.bytes);
  }
}

}  // namespace
}  // namespace dynatrain::transition
