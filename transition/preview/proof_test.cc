#include "transition/preview/proof.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/random_pair.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ClusterModel Cluster(int num_nodes, int ranks_per_node) {
  return *ClusterModel::Create({.num_nodes = num_nodes,
                                .ranks_per_node = ranks_per_node,
                                .nics_per_node = 1,
                                .inside_bytes_per_second = 100'000'000'000,
                                .nic_bytes_per_second = 10'000'000'000});
}

// Any worlds, on nodes of any size, processes anywhere on them.
TEST(ProofTest, HoldsOfEveryPreview) {
  std::mt19937_64 random = TestRandom(76);
  for (int i = 0; i < 150; ++i) {
    const PlanInput input = *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    const int per_node = 1 + static_cast<int>(random() % 4);
    const ClusterModel cluster = Cluster(30 / per_node + 1, per_node);
    PreviewOptions options;
    options.schedule.execution =
        i % 2 == 0 ? Execution::kGrouped : Execution::kOrdered;
    options.schedule.list.unit_bytes = 1 + static_cast<int64_t>(random() % 9);
    for (int place = 0; place < cluster.num_ranks(); ++place) {
      options.place_of_process.push_back(place);
    }
    std::shuffle(options.place_of_process.begin(),
                 options.place_of_process.end(), random);
    options.place_of_process.resize(input.num_processes());
    if (i % 3 > 0) {
      options.staging = StagingOptions();
      options.staging->stages.mode =
          i % 3 == 1 ? StageMode::kSafe : StageMode::kTight;
    }
    if (i % 3 < 2) {
      options.collectives = CollectiveOptions{.min_bytes = 1};
    }
    const Preview preview = *MakePreview(input, cluster, options);
    const Proof proof = *Prove(input, preview);
    ASSERT_THAT(proof.violations, IsEmpty()) << "case " << i;
    EXPECT_EQ(proof.num_programs,
              preview.transfer.has_value() && !preview.staging.has_value()
                  ? preview.transfer->moves.num_ranks()
                  : input.num_processes());
  }
}

PlanInput Halves() {
  return *MakeInput(PlanCase{.axes = {"dp"},
                             .tensors = {{.shape = {8}, .splits = {{0, 0}}}},
                             .source = {.sizes = {2}, .ids = {1, 2}},
                             .target = {.sizes = {2}, .ids = {2, 3}}});
}

// A vector of 64 MiB that seven new ranks are to hold too, on odd places.
TEST(ProofTest, HoldsWithCollectives) {
  PlanCase plan_case = {.axes = {"rep"},
                        .tensors = {{.shape = {1 << 24}}},
                        .source = {.sizes = {1}, .ids = {1}},
                        .target = {.sizes = {8}, .ids = {}}};
  PreviewOptions options = {.collectives = CollectiveOptions()};
  for (int i = 0; i < 8; ++i) {
    plan_case.target.ids.push_back(i + 1);
    options.place_of_process.push_back(2 * i + 1);
  }
  const PlanInput input = *MakeInput(plan_case);
  const Preview preview = *MakePreview(input, Cluster(16, 1), options);
  ASSERT_TRUE(preview.transfer.has_value());
  EXPECT_LT(preview.transfer_ns, preview.schedule.ns / 3);
  const Proof proof = *Prove(input, preview);
  EXPECT_THAT(proof.violations, IsEmpty());
}

TEST(ProofTest, AScheduleThatIsNotOfThePlanIsFound) {
  const PlanInput input = Halves();
  Preview preview = *MakePreview(input, Cluster(3, 1));
  for (LaneChoice& lane : preview.schedule.lanes) {
    if (!lane.schedule.parcels.empty()) lane.schedule.parcels.pop_back();
  }
  const Proof proof = *Prove(input, preview);
  EXPECT_FALSE(proof.holds());
  EXPECT_THAT(proof.violations, Not(IsEmpty()));
}

TEST(ProofTest, APeakThatIsTooLowIsFound) {
  const PlanInput input = Halves();
  PreviewOptions options;
  options.staging = StagingOptions();
  Preview preview = *MakePreview(input, Cluster(3, 1), options);
  ASSERT_TRUE(Prove(input, preview)->holds());
  for (RankPeak& rank : preview.staging->plan.ranks) --rank.peak_bytes;
  EXPECT_FALSE(Prove(input, preview)->holds());
}

TEST(ProofTest, WhatIsTooLargeIsRefusedWithTheLimit) {
  const PlanInput input = Halves();
  const Preview preview = *MakePreview(input, Cluster(3, 1));
  EXPECT_TRUE(Prove(input, preview, {.max_moves = 2}).ok());
  const absl::Status status = Prove(input, preview, {.max_moves = 1}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(status.message(), HasSubstr("more than 1 regions"));
}

}  // namespace
}  // namespace dynatrain::transition
