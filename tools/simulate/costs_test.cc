#include "tools/simulate/costs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/simulate/paper_cases.h"
#include "tools/simulate/step_time.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;

// 2 nodes of 2 ranks; a byte per ns on a NIC, ten inside.
ClusterModel Cluster() {
  return *ClusterModel::Create({.num_nodes = 2,
                                .ranks_per_node = 2,
                                .nics_per_node = 1,
                                .inside_bytes_per_second = 10'000'000'000,
                                .nic_bytes_per_second = 1'000'000'000,
                                .inside_latency_ns = 3,
                                .nic_latency_ns = 7,
                                .message_ns = 5,
                                .group_ns = 100});
}

TEST(CostsTest, OneGroupTakesAsLongAsItsBusiestPort) {
  const Phase phase = {.name = "exchange",
                       .flows = {{0, 2, 1000}, {1, 3, 500}, {0, 1, 10'000}},
                       .one_group = true};
  const PhaseTime time = *TimeOf(phase, Cluster(), {});
  EXPECT_EQ(time.ns, 1000 + 5 + 500 + 5 + 7 + 100);
  EXPECT_EQ(time.bytes, 11'500);
}

TEST(CostsTest, OtherNetworkPhasesAreScheduledAsOurs) {
  const Phase phase = {.name = "transfer", .flows = {{0, 2, 1000}}};
  const auto traffic = *transition::Traffic::Create(4, phase.flows);
  EXPECT_EQ(
      TimeOf(phase, Cluster(), {})->ns,
      transition::ChooseSchedule(traffic, Cluster(),
                                 {.execution = transition::Execution::kGrouped})
          ->ns);
}

TEST(CostsTest, StorageIsBoundByAllOrByTheBusiestNode) {
  SiteFigures figures;
  figures.storage_bytes_per_second = 4'000'000'000;
  figures.storage_node_bytes_per_second = 1'000'000'000;
  Phase phase = {.name = "save",
                 .resource = Resource::kStorage,
                 .busiest_bytes = 100,
                 .total_bytes = 1000};
  EXPECT_EQ(TimeOf(phase, Cluster(), figures)->ns, 250);
  phase.busiest_bytes = 500;
  EXPECT_EQ(TimeOf(phase, Cluster(), figures)->ns, 500);
}

TEST(CostsTest, PhasesFollowEachOtherAndSomeOutliveTheSource) {
  SiteFigures figures;
  figures.pause = {.drain_ns = 1,
                   .copy_bytes_per_second = 1'000'000'000,
                   .verify_bytes_per_second = 500'000'000,
                   .commit_ns = 2};
  figures.host_link_bytes_per_second = 100'000'000;
  const Movement movement = {
      {{.name = "a", .resource = Resource::kDevice, .busiest_bytes = 10},
       {.name = "b", .resource = Resource::kDigest, .busiest_bytes = 10},
       {.name = "c",
        .resource = Resource::kHostLink,
        .busiest_bytes = 10,
        .needs_source = false}}};
  const SwitchTime time = *TimeOf(movement, Cluster(), figures);
  EXPECT_EQ(time.ns(), 1 + 10 + 20 + 100 + 2);
  EXPECT_EQ(time.source_ns(), 1 + 10 + 20);
  EXPECT_EQ(time.movement_ns(), 130);
}

TEST(CostsTest, FiguresOutOfRangeAreNamed) {
  SiteFigures figures;
  figures.host_link_bytes_per_second = 0;
  EXPECT_THAT(CheckSiteFigures(figures).message(),
              testing::HasSubstr("host_link_gb_per_s: 0"));
}

// GPT-3 1.3B, tp2,pp2,dp2 on 8 ranks; all by hand from the formulas.
TEST(StepTimeTest, IsTheSumOfItsParts) {
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = 2,
                             .ranks_per_node = 4,
                             .nics_per_node = 4,
                             .inside_bytes_per_second = 100'000'000'000,
                             .nic_bytes_per_second = 10'000'000'000});
  const JobModel model = *ModelByName("gpt3-1.3b");
  StepFigures figures;
  figures.batch_tokens = 7 * 2048;  // 7 sequences: 4 microbatches of 2 replicas
  figures.sequence_tokens = 2048;
  figures.flops_per_second = 1e14;
  figures.data_overlap = 0;
  const StepTime time =
      StepTimeOf(model.config, {.tp = 2, .pp = 2}, 8, cluster, figures);
  const double parameters = 1'315'723'264;
  EXPECT_NEAR(time.compute_ns, 6 * parameters * 8 * 2048 / (8 * 0.5e14) * 1e9,
              1e-3 * time.compute_ns);
  EXPECT_NEAR(time.bubble_ns, time.compute_ns / 4.0, 2);
  // 5 passes x 12 layers x 4 all-reduces of 2048 x 2048 x 2 bytes, once around
  // a ring of two.
  EXPECT_NEAR(time.tensor_ns, 5 * 12 * 4 * 2048.0 * 2048 * 2 / 100, 2);
  EXPECT_EQ(time.expert_ns, 0);
  // dp 2 over tp 2: inside a node.
  EXPECT_NEAR(time.data_ns, parameters / 4 * 6 / 2 / 100, 1e-3 * time.data_ns);
}

// Each token goes to `experts_per_token` experts, of which a rank of ep has
// 1 / ep itself.
TEST(StepTimeTest, TokensGoToExpertsOfOtherRanks) {
  const JobModel model = *ModelByName("qwen3-30b-a3b");
  StepFigures figures;
  figures.batch_tokens = figures.sequence_tokens = 4096;
  figures.experts_per_token = 8;
  const auto expert_ns = [&](int ep) {
    return StepTimeOf(model.config, {.ep = ep, .etp = 1}, ep, Cluster(),
                      figures)
        .expert_ns;
  };
  EXPECT_EQ(expert_ns(1), 0);
  // One microbatch, 48 layers x 4 exchanges of 4096 x 2048 x 2 bytes, 8 times;
  // half of them leave the rank, at 10 bytes per ns.
  EXPECT_NEAR(expert_ns(2), 48 * 4 * 4096.0 * 2048 * 2 * 8 / 2 / 10, 2);
}

TEST(StepTimeTest, IsNeitherNothingNorTooMuch) {
  const JobModel model = *ModelByName("gpt3-1.3b");
  StepFigures figures;
  figures.batch_tokens = figures.sequence_tokens = 1;
  figures.flops_per_second = 1e18;
  EXPECT_EQ(CheckStepFigures(figures), absl::OkStatus());
  StepTime time = StepTimeOf(model.config, {}, 1, Cluster(), figures);
  EXPECT_GE(time.ns(), 1);
  EXPECT_EQ(StepTime().ns(), 1);
  figures.batch_tokens = 1'000'000'000'000;
  figures.flops_per_second = 1e6;
  figures.efficiency = 1e-3;
  EXPECT_EQ(CheckStepFigures(figures), absl::OkStatus());
  time = StepTimeOf(model.config, {.pp = 2}, 2, Cluster(), figures);
  EXPECT_EQ(time.compute_ns, 1'000'000'000'000'000'000);
  EXPECT_GE(time.ns(), time.compute_ns);
}

}  // namespace
}  // namespace dynatrain::simulate
