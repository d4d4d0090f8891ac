// Sizes and layouts: what is wished for, and the world that comes of it.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/reconcile/decide_testutil.h"
#include "operator/reconcile/fake_cluster.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;

// Events of one reason and action are merged when they are shown.
void ExpectEachEventOnce(const FakeCluster& cluster) {
  std::set<std::string> seen;
  for (const RecordEvent& event : cluster.events()) {
    EXPECT_TRUE(
        seen.insert(absl::StrCat(event.reason, " ", event.action)).second)
        << event.reason << " " << event.note;
  }
}

TEST(DecideResizeTest, AJobStartsWithTheWishedPods) {
  FakeCluster cluster(Spec(3));
  Settle(cluster, 3);
  EXPECT_EQ(cluster.status().generation, 1);
  EXPECT_EQ(cluster.status().layout.text, "dp3,tp1,pp1");
  EXPECT_EQ(cluster.status().members, "0-2");
  EXPECT_EQ(cluster.status().ready, "3/3");
  EXPECT_EQ(cluster.status().selector, "dynatrain.io/job=gpt");
  EXPECT_EQ(cluster.status().feasible_replicas, "1-8");
  EXPECT_EQ(cluster.status().agent_image, "agent:1");
  EXPECT_EQ(cluster.status().manifest_digest, "manifest");
  EXPECT_EQ(cluster.status().observed_generation, 1);
  EXPECT_TRUE(cluster.condition("Running").status);
  EXPECT_FALSE(cluster.condition("Degraded").status);
  EXPECT_EQ(cluster.status().transition->cause, "start");
  EXPECT_EQ(cluster.status().history.back().summary,
            "g1 start dp3,tp1,pp1: started");
}

TEST(DecideResizeTest, ScalingUpKeepsMembersAndAddsJoiners) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.Scale(3);
  Settle(cluster, 3);
  EXPECT_EQ(cluster.status().members, "0-2");
  EXPECT_EQ(cluster.status().generation, 2);
  EXPECT_EQ(cluster.status().history.back().summary,
            "g2 scale-up dp2,tp1,pp1 -> dp3,tp1,pp1: moved 3.0 MiB (minimal "
            "3.0 MiB), paused 0.14 s (wait_go 0.030, transfer 0.050, other "
            "0.060), warm");
}

// From 4 quarters by tp to halves by tp, each cut by dp: the second half's
// first quarter is the third one.
TEST(DecideResizeTest, MembersTakeTheRanksThatKeepMost) {
  FakeCluster cluster(Spec(4));
  cluster.Edit([](api::JobSpec& spec) { spec.parallelism.dp = {1, 1}; });
  Settle(cluster, 4);
  ASSERT_EQ(cluster.status().layout.text, "dp1,tp4,pp1");
  cluster.manifest = R"({"version":1,"tensors":[
      {"name":"w","state":"param","dtype":"float32","shape":[8,8],
       "splits":[{"axis":"tp","dim":0},{"axis":"dp","dim":0}]}]})";
  cluster.Edit([](api::JobSpec& spec) { spec.parallelism.dp = {2, 2}; });
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().layout.text == "dp2,tp2,pp1";
  })) << cluster.journal();
  Settle(cluster, 4);
  EXPECT_EQ(cluster.status().members, "0,2,1,3");
  // And it rests there.
  const int64_t generation = cluster.status().generation;
  cluster.Run(30);
  EXPECT_EQ(cluster.status().generation, generation);
  EXPECT_EQ(cluster.status().members, "0,2,1,3");
}

// Numbers of members on one node are equal, in both worlds.
TEST(DecideResizeTest, MembersAreToldWhoIsOnWhichNode) {
  FakeCluster cluster(Spec(2));
  cluster.nodes = 2;
  Settle(cluster, 2);
  cluster.Scale(3);
  Settle(cluster, 3);
  const agent::Transition& told = cluster.prepared();
  for (const agent::World* world : {&told.source, &told.target}) {
    for (const agent::Member& member : world->members) {
      EXPECT_EQ(member.node, 1 + member.serial % 2) << member.serial;
    }
  }
  EXPECT_EQ(told.target.members.size(), 3);
}

TEST(DecideResizeTest, ScalingDownLetsTheHighestSerialsLeave) {
  FakeCluster cluster(Spec(3));
  Settle(cluster, 3);
  cluster.Scale(1);
  Settle(cluster, 1);
  ExpectEachEventOnce(cluster);
  EXPECT_EQ(cluster.status().members, "0");
  EXPECT_EQ(cluster.status().transition->cause, "scale-down");
  EXPECT_EQ(cluster.status().generation, 2);
}

TEST(DecideResizeTest, ALayoutEditAtTheSameSizeMovesNoPod) {
  FakeCluster cluster(Spec(4));
  Settle(cluster, 4);
  cluster.Edit([](api::JobSpec& spec) { spec.parallelism.tp = {2, 2}; });
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().layout.text == "dp2,tp2,pp1";
  })) << cluster.journal();
  Settle(cluster, 4);
  EXPECT_EQ(cluster.status().members, "0-3");
  EXPECT_EQ(cluster.status().transition->cause, "layout");
}

TEST(DecideResizeTest, ADrainIsOneShrinkThenOneGrow) {
  FakeCluster cluster(Spec(3));
  Settle(cluster, 3);
  cluster.Evict(0);
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.status().replicas == 2; }))
      << cluster.journal();
  EXPECT_EQ(cluster.status().transition->cause, "drain");
  EXPECT_EQ(cluster.status().members, "1-2");
  Settle(cluster, 3);
  EXPECT_EQ(cluster.status().members, "1-3");
  EXPECT_EQ(cluster.status().generation, 3);
  EXPECT_FALSE(cluster.condition("StateLost").status);
}

TEST(DecideResizeTest, TheOnlyPodIsReplacedBeforeItGoes) {
  FakeCluster cluster(Spec(1));
  Settle(cluster, 1);
  cluster.Evict(0);
  ASSERT_TRUE(cluster.RunUntil([&] { return !cluster.has(0); }))
      << cluster.journal();
  Settle(cluster, 1);
  EXPECT_EQ(cluster.status().members, "1");
  EXPECT_EQ(cluster.status().restarts, 0);
  EXPECT_FALSE(cluster.condition("StateLost").status);
}

TEST(DecideResizeTest, ADrainGoesBelowTheMinimumRatherThanLoseState) {
  FakeCluster cluster(Spec(2, /*min=*/2));
  Settle(cluster, 2);
  cluster.capacity = 0;
  cluster.Evict(1);
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.status().replicas == 1; }))
      << cluster.journal();
  cluster.Run(5);
  EXPECT_EQ(cluster.status().members, "0");
  EXPECT_TRUE(cluster.condition("Degraded").status);
  cluster.capacity = 10;
  Settle(cluster, 2);
  EXPECT_FALSE(cluster.condition("Degraded").status);
}

TEST(DecideResizeTest, ScalingBackDeletesWhatIsNotScheduledFirst) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.capacity = 3;
  cluster.Scale(4);
  cluster.Run(5);
  cluster.Scale(3);
  Settle(cluster, 3);
  EXPECT_EQ(cluster.status().members, "0-2");
  EXPECT_FALSE(cluster.has(3));
}

TEST(DecideResizeTest, ThoseThatAreReadyStartAfterTheDelay) {
  FakeCluster cluster(Spec(3));
  cluster.capacity = 2;
  cluster.Run(20);
  EXPECT_EQ(cluster.status().generation, 0);
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.status().replicas == 2; }))
      << cluster.journal();
  cluster.capacity = 3;
  Settle(cluster, 3);
}

TEST(DecideResizeTest, JoinersThatAreReadyCloseTogetherCostOneTransition) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.capacity = 3;
  cluster.Scale(4);
  cluster.Run(8);
  cluster.capacity = 4;
  Settle(cluster, 4);
  EXPECT_EQ(cluster.status().generation, 2);
}

TEST(DecideResizeTest, AnInfeasibleWishChangesNothingAndNamesTheNearest) {
  api::JobSpec spec = Spec(4);
  spec.parallelism.tp = {2, 2};
  FakeCluster cluster(spec);
  Settle(cluster, 4);
  cluster.Scale(5);
  cluster.Run(50);
  EXPECT_EQ(cluster.status().replicas, 4);
  EXPECT_EQ(cluster.pods().size(), 4);
  EXPECT_EQ(cluster.status().generation, 1);
  EXPECT_FALSE(cluster.condition("LayoutFeasible").status);
  EXPECT_THAT(cluster.status().reason,
              HasSubstr("nearest sizes with a layout: 4 and 6"));
  EXPECT_TRUE(Saw(cluster, "LayoutInfeasible"));
  cluster.Scale(6);
  Settle(cluster, 6);
  EXPECT_TRUE(cluster.condition("LayoutFeasible").status);
}

TEST(DecideResizeTest, AnInfeasibleWishIsRoundedDownIfThePolicySaysSo) {
  api::JobSpec spec = Spec(5);
  spec.parallelism.tp = {2, 2};
  spec.elastic.infeasible_policy = api::InfeasiblePolicy::kRoundDown;
  FakeCluster cluster(spec);
  Settle(cluster, 4);
  EXPECT_THAT(cluster.condition("LayoutFeasible").message,
              HasSubstr("rounded down to 4"));
}

TEST(DecideResizeTest, ALayoutThatCantBeKeepsTheRunningOne) {
  FakeCluster cluster(Spec(4));
  Settle(cluster, 4);
  cluster.Edit([](api::JobSpec& spec) { spec.parallelism.tp = {3, 3}; });
  cluster.Run(50);
  EXPECT_EQ(cluster.status().layout.text, "dp4,tp1,pp1");
  EXPECT_EQ(cluster.status().generation, 1);
  EXPECT_EQ(cluster.status().feasible_replicas, "3, 6");
  EXPECT_THAT(cluster.status().reason, HasSubstr("nearest sizes"));
}

TEST(DecideResizeTest, AJobWithoutAnyLayoutStartsNoPod) {
  api::JobSpec spec = Spec(1, 1, 1);
  spec.parallelism.tp = {2, 2};
  FakeCluster cluster(spec);
  cluster.Run(20);
  EXPECT_TRUE(cluster.pods().empty());
  EXPECT_EQ(cluster.status().phase, "Pending");
  EXPECT_EQ(cluster.status().feasible_replicas, "none");
}

TEST(DecideResizeTest, AWishThatChangesBeforeDrainingSupersedes) {
  FakeCluster cluster(Spec(3));
  Settle(cluster, 3);
  cluster.Scale(1);
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.status().transition->phase == "Planned"; }));
  cluster.Scale(3);
  Settle(cluster, 3);
  EXPECT_EQ(cluster.status().generation, 1);
  EXPECT_EQ(cluster.status().transition->phase, "Superseded");
  EXPECT_EQ(cluster.status().members, "0-2");
}

TEST(DecideResizeTest, RapidScalingEndsAtTheLastWish) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  for (const int replicas : {4, 3, 5, 1, 4}) {
    cluster.Scale(replicas);
    cluster.Run(3);
  }
  Settle(cluster, 4);
}

TEST(DecideResizeTest, AVictimSetMayGrowWhileADrainIsPrepared) {
  FakeCluster cluster(Spec(4));
  Settle(cluster, 4);
  cluster.Evict(1);
  cluster.Run(2);
  cluster.Evict(2);
  ASSERT_TRUE(cluster.RunUntil([&] {
    return !cluster.has(1) && !cluster.has(2);
  })) << cluster.journal();
  Settle(cluster, 4);
  EXPECT_EQ(cluster.status().members, "0,3-5");
  EXPECT_FALSE(cluster.condition("StateLost").status);
}

TEST(DecideResizeTest, SeveralRanksInAPodMoveTogether) {
  api::JobSpec spec = Spec(2);
  spec.ranks_per_replica = 2;
  FakeCluster cluster(spec);
  Settle(cluster, 2);
  EXPECT_EQ(cluster.status().layout.text, "dp4,tp1,pp1");
  EXPECT_EQ(cluster.status().layout.world_size, 4);
  EXPECT_EQ(cluster.status().feasible_replicas, "1-8");
  cluster.Scale(3);
  Settle(cluster, 3);
  EXPECT_EQ(cluster.status().layout.text, "dp6,tp1,pp1");
  cluster.Evict(0);
  ASSERT_TRUE(cluster.RunUntil([&] { return !cluster.has(0); }));
  Settle(cluster, 3);
}

}  // namespace
}  // namespace dynatrain::control
