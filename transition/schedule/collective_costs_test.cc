#include "transition/schedule/collective_costs.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kGiB = int64_t{1} << 30;

ClusterModel Nodes(int nodes, int ranks = 8) {
  return *ClusterModel::Create({.num_nodes = nodes,
                                .ranks_per_node = ranks,
                                .nics_per_node = ranks,
                                .inside_bytes_per_second = 200'000'000'000,
                                .nic_bytes_per_second = 25'000'000'000});
}

std::vector<int> Ranks(int begin, int end) {
  std::vector<int> ranks;
  for (int rank = begin; rank < end; ++rank) ranks.push_back(rank);
  return ranks;
}

// 31 copies through one NIC take 31 S/B; the chain about S/B.
TEST(CollectiveCostsTest, BroadcastToManyNodesIsAChain) {
  const CostComparison it = *CompareBroadcast(Nodes(4), 0, Ranks(1, 32), kGiB);
  ASSERT_THAT(it.ways, SizeIs(2));
  EXPECT_EQ(it.chosen, 1) << it;
  const double ideal_ns = static_cast<double>(kGiB) / 25;
  EXPECT_GT(it.ways[0].ns(), 23.9 * ideal_ns) << it;
  EXPECT_LT(it.ways[1].ns(), 1.05 * ideal_ns) << it;
  EXPECT_THAT(it.DebugString(), HasSubstr("* broadcast chain: "));
}

TEST(CollectiveCostsTest, TwoTargetsOrFewBytesAreSent) {
  const CostComparison two = *CompareBroadcast(Nodes(4), 0, Ranks(1, 3), kGiB);
  EXPECT_THAT(two.ways, SizeIs(1));
  EXPECT_THAT(two.DebugString(), HasSubstr("no collective: 2 ranks"));
  const CostComparison few = *CompareBroadcast(Nodes(4), 0, Ranks(1, 32), 100);
  EXPECT_THAT(few.ways, SizeIs(1));
  EXPECT_THAT(few.remark, HasSubstr("no collective: 3100 bytes"));
}

// The chain's time is what a simulation of slots through hops gives.
TEST(CollectiveCostsTest, AChainInsideANodeIsExact) {
  const ClusterModel cluster = Nodes(1);
  const CollectiveOptions options = {.min_slot_bytes = 1 << 20,
                                     .max_slot_bytes = 1 << 20};
  const CostComparison it =
      *CompareBroadcast(cluster, 0, Ranks(1, 8), 64 << 20, options);
  const int64_t slot_ns = TransferNs(1 << 20, 200'000'000'000) + 2'000;
  std::vector<int64_t> free_at(7);
  for (int slot = 0; slot < 64; ++slot) {
    int64_t there = 0;
    for (int64_t& hop : free_at) there = hop = std::max(hop, there) + slot_ns;
  }
  EXPECT_NEAR(static_cast<double>(it.ways[1].ns()),
              static_cast<double>(free_at.back() + 30'000 + 7 * 5'000), 64);
}

TEST(CollectiveCostsTest, PipelineSlotIsTheBestOne) {
  const CollectiveOptions options = {.min_slot_bytes = 1,
                                     .max_slot_bytes = kGiB};
  const int64_t best = PipelineSlot(kGiB, 25'000'000'000, 2'000, 10, options);
  EXPECT_NEAR(static_cast<double>(best), std::sqrt(kGiB * 2e-6 * 25e9 / 10), 1);
  EXPECT_EQ(PipelineSlot(kGiB, 25'000'000'000, 2'000, 10, {}), best);
  EXPECT_EQ(PipelineSlot(1, 25'000'000'000, 2'000, 10, {}), 64 << 10);
  EXPECT_EQ(PipelineSlot(kGiB << 20, 25'000'000'000, 2'000, 1, {}), 32 << 20);
}

// Small pieces cost messages: one per node is less than one per rank. Large
// ones cost bytes, of which there are as many either way.
TEST(CollectiveCostsTest, ScatterPaysForSmallPieces) {
  const ClusterModel cluster = Nodes(16);
  const std::vector<int> targets = Ranks(1, 128);
  const CollectiveOptions any_size = {.min_bytes = 0};
  const CostComparison small =
      *CompareScatter(cluster, 0, targets, 4096, any_size);
  EXPECT_EQ(small.chosen, 1) << small;
  const CostComparison large =
      *CompareScatter(cluster, 0, targets, 256 << 20, any_size);
  EXPECT_EQ(large.chosen, 0) << large;
}

TEST(CollectiveCostsTest, GatherCostsWhatScatterDoes) {
  const ClusterModel cluster = Nodes(4);
  for (const int64_t bytes : {int64_t{1000}, kGiB}) {
    const CostComparison gather =
        *CompareGather(cluster, 3, Ranks(4, 32), bytes, {.min_bytes = 0});
    const CostComparison scatter =
        *CompareScatter(cluster, 3, Ranks(4, 32), bytes, {.min_bytes = 0});
    EXPECT_EQ(gather.chosen, scatter.chosen);
    EXPECT_EQ(gather.best().ns(), scatter.best().ns());
  }
}

TEST(CollectiveCostsTest, AllToAllByNodePaysForSmallMessages) {
  const ClusterModel cluster = Nodes(16);
  const CostComparison small =
      *CompareAllToAll(cluster, 16, 4096, {.min_bytes = 0});
  EXPECT_EQ(small.chosen, 1) << small;
  const CostComparison large = *CompareAllToAll(cluster, 16, 64 << 20);
  EXPECT_EQ(large.chosen, 0) << large;
}

TEST(CollectiveCostsTest, RefusesWhatIsNotThere) {
  const ClusterModel cluster = Nodes(1);
  EXPECT_THAT(CompareBroadcast(cluster, 0, Ranks(1, 9), 1).status().message(),
              HasSubstr("rank 8; ranks are 0 to 7"));
  EXPECT_THAT(CompareScatter(cluster, 1, Ranks(0, 3), 1).status().message(),
              HasSubstr("rank 1 is there twice"));
  EXPECT_THAT(CompareGather(cluster, 0, Ranks(1, 3), 0).status().message(),
              HasSubstr("bytes is 0"));
  EXPECT_THAT(CompareAllToAll(cluster, 2, 1).status().message(),
              HasSubstr("nodes is 2; it must be 1 to 1"));
}

TEST(CollectiveCostsTest, RefusesSlotsOfNothing) {
  const auto error = [](const CollectiveOptions& options) {
    return std::string(CompareBroadcast(Nodes(1), 0, Ranks(1, 8), 1, options)
                           .status()
                           .message());
  };
  EXPECT_THAT(error({.min_ranks = 0}), HasSubstr("min_ranks is 0"));
  EXPECT_THAT(error({.min_bytes = -1}), HasSubstr("min_bytes is -1"));
  EXPECT_THAT(error({.min_slot_bytes = 0}), HasSubstr("min_slot_bytes is 0"));
  EXPECT_THAT(error({.min_slot_bytes = 9000, .max_slot_bytes = 8000}),
              HasSubstr("min_slot_bytes is 9000; it must be 4096 to 8000"));
}

}  // namespace
}  // namespace dynatrain::transition
