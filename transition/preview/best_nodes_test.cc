#include "transition/preview/best_nodes.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/random_pair.h"
#include "transition/preview/planned_bytes.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sharded over four nodes of one rank; what node i has of it, in `order`.
PlanInput Quarters(std::vector<uint64_t> target_ids) {
  const int target = static_cast<int>(target_ids.size());
  return *MakeInput(
      PlanCase{.axes = {"dp", "rep"},
               .tensors = {{.shape = {8}, .splits = {{0, 0}}}},
               .source = {.sizes = {2, 2}, .ids = {1, 2, 3, 4}},
               .target = {.sizes = {target, 1}, .ids = std::move(target_ids)}});
}

// Ranks 0 and 1 have the first half, 2 and 3 the second: of four nodes, one of
// each pair is enough.
TEST(BestNodesTest, AShrinkingWorldStaysWhereItsPartsAre) {
  const NodeChoice choice = *BestNodes(Quarters({1, 2}), {0, 1, 2, 3}, 1, 4);
  EXPECT_THAT(choice.nodes, ElementsAre(0, 2));
  // In that order nothing moves.
  EXPECT_EQ(ComputePlannedBytes(Quarters({1, 3})).total.kept_bytes,
            choice.kept_bytes);
  EXPECT_EQ(ComputePlannedBytes(Quarters({1, 3})).total.moved_bytes, 0);
}

TEST(BestNodesTest, NodesThatTheJobIsOnGoBeforeOthersThatKeepAsMuch) {
  const PlanInput input = Quarters({1, 2});
  EXPECT_THAT(BestNodes(input, {4, 1, 5, 3}, 1, 6)->nodes, ElementsAre(1, 3));
}

// Each node holds all of it: any order keeps as much.
TEST(BestNodesTest, OfEqualOrdersRunsStayWhereTheyAre) {
  const PlanInput input =
      *MakeInput(PlanCase{.axes = {"rep"},
                          .tensors = {{.shape = {8}}},
                          .source = {.sizes = {4}, .ids = {1, 2, 3, 4}},
                          .target = {.sizes = {4}, .ids = {4, 3, 2, 1}}});
  EXPECT_THAT(BestNodes(input, {3, 1, 0, 2}, 1, 4)->nodes,
              ElementsAre(0, 1, 2, 3));
}

TEST(BestNodesTest, TooFewNodesAreRefused) {
  EXPECT_THAT(
      std::string(BestNodes(Quarters({1, 2}), {0}, 1, 1).status().message()),
      HasSubstr("fills 2 nodes of 1"));
}

// No permutation keeps more, and it keeps what it says.
TEST(BestNodesTest, IsTheBestOfAllOrders) {
  std::mt19937_64 random = TestRandom(77);
  for (int i = 0; i < 60; ++i) {
    PairCase pair = RandomPair(random);
    const int per_node = 1 + static_cast<int>(random() % 3);
    const auto runs = [&](size_t ranks) {
      return (static_cast<int>(ranks) + per_node - 1) / per_node;
    };
    const int nodes =
        std::max(runs(pair.source.ids.size()), runs(pair.target.ids.size()));
    if (pair.source.ids.empty() || nodes > 5) continue;
    // Source run r on node r: place p is process p + 1.
    std::iota(pair.source.ids.begin(), pair.source.ids.end(), 1);
    std::vector<int> source_nodes(runs(pair.source.ids.size()));
    std::iota(source_nodes.begin(), source_nodes.end(), 0);
    const auto kept_on = [&](const std::vector<int>& order) {
      for (size_t rank = 0; rank < pair.target.ids.size(); ++rank) {
        pair.target.ids[rank] =
            order[rank / per_node] * per_node + rank % per_node + 1;
      }
      return ComputePlannedBytes(*MakeInput(pair)).total.kept_bytes;
    };
    std::vector<int> order(nodes);
    std::iota(order.begin(), order.end(), 0);
    kept_on(order);
    const NodeChoice choice =
        *BestNodes(*MakeInput(pair), source_nodes, per_node, nodes);
    EXPECT_EQ(kept_on(choice.nodes), choice.kept_bytes);
    do {
      ASSERT_LE(kept_on(order), choice.kept_bytes) << "case " << i;
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

}  // namespace
}  // namespace dynatrain::transition
