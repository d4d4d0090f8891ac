#include "transition/schedule/chain_tree.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {

void PrintTo(const Hop& hop, std::ostream* out) {
  *out << hop.from << "->" << hop.to << " at " << hop.depth << " after "
       << hop.after;
}

namespace {

using ::testing::ElementsAre;

ClusterModel Nodes(int nodes, int ranks) {
  return *ClusterModel::Create({.num_nodes = nodes,
                                .ranks_per_node = ranks,
                                .nics_per_node = ranks,
                                .inside_bytes_per_second = 200'000'000'000,
                                .nic_bytes_per_second = 25'000'000'000});
}

// Nodes of 2: 0 1 | 2 3 | 4 5.
TEST(ChainTreeTest, GoesFromNodeToNodeAndInsideEach) {
  EXPECT_THAT(ChainTree(Nodes(3, 2), 0, {1, 2, 3, 4, 5}, 0, 1),
              ElementsAre(Hop{0, 1, 0, -1}, Hop{0, 2, 0, -1}, Hop{2, 3, 1, 0},
                          Hop{2, 4, 1, 0}, Hop{4, 5, 2, 2}));
}

// The second of two enters by the other node and the other rank.
TEST(ChainTreeTest, TurnedChainsEnterElsewhere) {
  EXPECT_THAT(ChainTree(Nodes(3, 2), 0, {2, 3, 4, 5}, 1, 2),
              ElementsAre(Hop{0, 5, 0, -1}, Hop{5, 4, 1, 0}, Hop{5, 3, 1, 0},
                          Hop{3, 2, 2, 5}));
}

// Each target has it from somebody who has it a hop earlier; a node is entered
// once; nobody sends on one lane twice.
TEST(ChainTreeTest, IsATreeOfOnePortPerHop) {
  std::mt19937_64 random = TestRandom(71);
  for (int i = 0; i < 500; ++i) {
    const ClusterModel cluster = Nodes(1 + static_cast<int>(random() % 6),
                                       1 + static_cast<int>(random() % 5));
    const int root = static_cast<int>(random() % cluster.num_ranks());
    std::vector<int> targets;
    for (int rank = 0; rank < cluster.num_ranks(); ++rank) {
      if (rank != root && random() % 3 > 0) targets.push_back(rank);
    }
    if (targets.empty()) continue;
    const int turns = 1 + static_cast<int>(random() % 9);
    const std::vector<Hop> hops = ChainTree(
        cluster, root, targets, static_cast<int>(random() % turns), turns);
    std::map<int, Hop> to;
    std::set<std::pair<int, Lane>> senders;
    std::set<int> entered;
    for (const Hop& hop : hops) {
      EXPECT_TRUE(to.emplace(hop.to, hop).second) << hop.to;
      const Lane lane = cluster.LaneOf(hop.from, hop.to);
      EXPECT_TRUE(senders.emplace(hop.from, lane).second);
      if (lane == Lane::kBetween) {
        EXPECT_TRUE(entered.insert(cluster.NodeOf(hop.to)).second);
      }
      if (hop.from == root) {
        EXPECT_EQ(hop.depth, 0);
        EXPECT_EQ(hop.after, -1);
      } else {
        ASSERT_EQ(to.count(hop.from), 1);  // by ascending depth
        EXPECT_EQ(hop.depth, to[hop.from].depth + 1);
        EXPECT_EQ(hop.after, to[hop.from].from);
      }
    }
    EXPECT_EQ(to.size(), targets.size());
    for (const int rank : targets) EXPECT_EQ(to.count(rank), 1);
  }
}

}  // namespace
}  // namespace dynatrain::transition
