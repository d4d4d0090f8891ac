#include "transition/preview/preview.h"

#include <random>
#include <string>
#include <utility>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/random_pair.h"
#include "transition/schedule/plan_moves.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;

ClusterModel Cluster(int num_nodes, int ranks_per_node) {
  return *ClusterModel::Create({.num_nodes = num_nodes,
                                .ranks_per_node = ranks_per_node,
                                .nics_per_node = 1,
                                .inside_bytes_per_second = 100'000'000'000,
                                .nic_bytes_per_second = 10'000'000'000});
}

// One vector of 8 floats over two ranks, then over the second and a new one.
PlanInput Shifted() {
  PlanCase plan_case = {.axes = {"dp"},
                        .tensors = {{.shape = {8}, .splits = {{0, 0}}}},
                        .source = {.sizes = {2}, .ids = {1, 2}},
                        .target = {.sizes = {2}, .ids = {2, 3}}};
  return *MakeInput(plan_case);
}

TEST(PreviewTest, SaysWhatStaysMovesAndHowLongItTakes) {
  const Preview preview = *MakePreview(Shifted(), Cluster(3, 1));
  EXPECT_EQ(preview.num_staying, 1);
  EXPECT_EQ(preview.num_joining(), 1);
  EXPECT_EQ(preview.num_leaving(), 1);
  // Rank 0 becomes process 2, who had the second half; 3 gets the second half.
  EXPECT_EQ(preview.bytes.total.kept_bytes, 0);
  EXPECT_EQ(preview.bytes.total.moved_bytes, preview.bytes.total.target_bytes);
  EXPECT_EQ(preview.traffic.flows().size(), 2);
  EXPECT_GE(preview.transfer_ns, preview.schedule.bounds.ideal_ns);
  EXPECT_EQ(preview.pause.terms[2].ns, preview.transfer_ns);
}

// Process 2 receives 16 bytes, and has sent as many before.
TEST(PreviewTest, WhatARankSentIsVerifiedWithWhatItReceived) {
  PreviewOptions options;
  options.pause.verify_bytes_per_second = 1'000'000;
  const Preview preview = *MakePreview(Shifted(), Cluster(3, 1), options);
  EXPECT_EQ(preview.pause.terms[3].ns, TransferNs(32, 1'000'000));
}

TEST(PreviewTest, ProcessesLieWhereTheOptionSays) {
  const Preview near = *MakePreview(Shifted(), Cluster(2, 4));
  EXPECT_EQ(near.loads.between_bytes, 0);
  const Preview far =
      *MakePreview(Shifted(), Cluster(2, 4), {.place_of_process = {0, 1, 5}});
  EXPECT_GT(far.loads.between_bytes, 0);
  EXPECT_EQ(far.traffic.num_ranks(), 6);
  EXPECT_EQ(far.bytes.flows, near.bytes.flows);
}

// One rank hands a vector out to 16 nodes, which is fastest by way of one rank
// of each node.
TEST(PreviewTest, CollectivesHoldNoMoreThanTheLimitLeaves) {
  PlanCase plan_case = {.axes = {"dp"},
                        .tensors = {{.shape = {1 << 17}, .splits = {{0, 0}}}},
                        .source = {.sizes = {1}, .ids = {1}},
                        .target = {.sizes = {128}, .ids = {}}};
  for (int i = 0; i < 128; ++i) plan_case.target.ids.push_back(i + 1);
  const PlanInput input = *MakeInput(plan_case);
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = 16,
                             .ranks_per_node = 8,
                             .nics_per_node = 8,
                             .inside_bytes_per_second = 200'000'000'000,
                             .nic_bytes_per_second = 25'000'000'000,
                             .message_ns = 2'000});
  PreviewOptions options = {
      .staging = StagingOptions(),
      .collectives = CollectiveOptions{.min_bytes = 0, .min_slot_bytes = 4096}};
  const Preview free = *MakePreview(input, cluster, options);
  ASSERT_TRUE(free.transfer.has_value());
  const int64_t peak = free.staging->plan.PeakBytes();
  options.staging->stages.limit_bytes = peak + (1 << 20);
  EXPECT_TRUE(MakePreview(input, cluster, options)->transfer.has_value());
  options.staging->stages.limit_bytes = peak;
  EXPECT_FALSE(MakePreview(input, cluster, options)->transfer.has_value());
}

TEST(PreviewTest, RefusesWhatDoesNotFit) {
  const auto error = [](const ClusterModel& cluster,
                        const PreviewOptions& options) {
    return std::string(
        MakePreview(Shifted(), cluster, options).status().message());
  };
  EXPECT_THAT(error(Cluster(1, 2), {}),
              HasSubstr("have 3 processes; 2 nodes would do"));
  EXPECT_THAT(error(Cluster(2, 2), {.place_of_process = {0, 1}}),
              HasSubstr("2 places for 3 processes"));
  EXPECT_THAT(error(Cluster(2, 2), {.place_of_process = {0, 4, 1}}),
              HasSubstr("process 1 is on rank 4 of the cluster"));
  EXPECT_THAT(error(Cluster(2, 2), {.place_of_process = {0, 1, 0}}),
              HasSubstr("processes 0 and 2 are both on rank 0"));
  EXPECT_THAT(error(Cluster(2, 2), {.pause = {.drain_ns = -1}}),
              HasSubstr("drain_ns"));
  EXPECT_THAT(error(Cluster(2, 2), {.schedule = {.slot_bytes = 0}}),
              HasSubstr("slot_bytes"));
}

// Laws of any pair of worlds, on any cluster.
TEST(PreviewTest, TimesAreAboveBoundsAndPartsAddUp) {
  std::mt19937_64 random = TestRandom(75);
  for (int i = 0; i < 200; ++i) {
    const PlanInput input = *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    const int per_node = 1 + static_cast<int>(random() % 4);
    const Preview preview =
        *MakePreview(input, Cluster(24 / per_node + 1, per_node));
    EXPECT_GE(preview.transfer_ns, preview.schedule.bounds.pinned_ns);
    EXPECT_LE(preview.EfficiencyPpm(), 1'000'000);
    EXPECT_EQ(preview.loads.inside_bytes + preview.loads.between_bytes,
              preview.bytes.total.moved_bytes);
    EXPECT_EQ(preview.bytes.total.moved_bytes,
              preview.bytes.total.minimal_bytes);
    EXPECT_EQ(preview.source_size + preview.num_joining(),
              input.num_processes());
  }
}

}  // namespace
}  // namespace dynatrain::transition
