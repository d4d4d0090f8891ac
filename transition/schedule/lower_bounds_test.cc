#include "transition/schedule/lower_bounds.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;

// Two nodes of two ranks, one NIC each: 0 1 | 2 3. Inside ten times faster.
ClusterModel Cluster() {
  return *ClusterModel::Create({.num_nodes = 2,
                                .ranks_per_node = 2,
                                .nics_per_node = 1,
                                .inside_bytes_per_second = 10'000'000'000,
                                .nic_bytes_per_second = 1'000'000'000});
}

TEST(LowerBoundsTest, FindsTheBusiestOfEachKind) {
  const Traffic traffic = *Traffic::Create(
      4, {{0, 1, 50'000}, {0, 2, 1'000}, {1, 2, 2'000}, {3, 0, 500}});
  const LowerBounds bounds = ComputeLowerBounds(traffic, Cluster());
  EXPECT_EQ(bounds.bytes, 53'500);
  EXPECT_EQ(bounds.between_bytes, 3'500);
  EXPECT_EQ(bounds.max_out, (PortLoad{0, 51'000}));
  EXPECT_EQ(bounds.max_in, (PortLoad{1, 50'000}));
  EXPECT_EQ(bounds.max_inside_out, (PortLoad{0, 50'000}));
  EXPECT_EQ(bounds.max_inside_in, (PortLoad{1, 50'000}));
  EXPECT_EQ(bounds.max_node_out, (PortLoad{0, 3'000}));
  EXPECT_EQ(bounds.max_node_in, (PortLoad{1, 3'000}));
  EXPECT_EQ(bounds.max_nic_out, (PortLoad{0, 3'000}));
  // 50,000 bytes at 10 GB/s against 3,000 at 1 GB/s.
  EXPECT_EQ(bounds.ideal_ns, 5'000);
  EXPECT_EQ(bounds.EfficiencyPpm(10'000), 500'000);
  for (const char* line :
       {"bytes that must move                   53500\n",
        "of those, between nodes                 3500\n",
        "most out of a rank                     51000  (rank 0)\n",
        "most into a rank                       50000  (rank 1)\n",
        "most out inside a node                 50000  (rank 0)\n",
        "most in inside a node                  50000  (rank 1)\n",
        "most out of a node                      3000  (node 0)\n",
        "most into a node                        3000  (node 1)\n",
        "ideal time, ms                         0.005\n"}) {
    EXPECT_THAT(bounds.DebugString(), HasSubstr(line));
  }
}

TEST(LowerBoundsTest, PinnedNicsBindMoreThanTheNodeDoes) {
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = 2,
                             .ranks_per_node = 2,
                             .nics_per_node = 2,
                             .inside_bytes_per_second = 10'000'000'000,
                             .nic_bytes_per_second = 1'000'000'000});
  const LowerBounds bounds =
      ComputeLowerBounds(*Traffic::Create(4, {{0, 2, 8'000}}), cluster);
  EXPECT_EQ(bounds.ideal_ns, 4'000);
  EXPECT_EQ(bounds.pinned_ns, 8'000);
}

TEST(LowerBoundsTest, NothingToMoveTakesNoTimeAndIsEfficient) {
  const LowerBounds bounds =
      ComputeLowerBounds(*Traffic::Create(4, {}), Cluster());
  EXPECT_EQ(bounds.ideal_ns, 0);
  EXPECT_EQ(bounds.EfficiencyPpm(0), 1'000'000);
}

TEST(LowerBoundsTest, PortBoundAddsUpRanksThatShareAPort) {
  const Traffic traffic = *Traffic::Create(4, {{0, 2, 5}, {1, 3, 7}});
  EXPECT_EQ(RankBound(traffic), 7);
  EXPECT_EQ(PortBound(traffic, {{0, 0, 1, 2}, 3}), 12);
}

}  // namespace
}  // namespace dynatrain::transition
