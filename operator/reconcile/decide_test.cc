// Scenarios: what a user or an accident does, and where the job ends up.
#include "operator/reconcile/decide.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/reconcile/fake_cluster.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr api::AxisRange kAny{1, 8};

api::JobSpec Spec(int replicas, int min = 1, int max = 8) {
  api::JobSpec spec;
  spec.replicas = replicas;
  spec.elastic.min_replicas = min;
  spec.elastic.max_replicas = max;
  spec.parallelism.dp = kAny;
  spec.parallelism.tp = kAny;
  return spec;
}

// Runs until `pods` train and nothing moves.
void Settle(FakeCluster& cluster, int pods) {
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.Settled(pods); }))
      << cluster.journal() << api::ToJson(cluster.status());
}

// Events of one reason and action are merged when they are shown.
void ExpectEachEventOnce(const FakeCluster& cluster) {
  std::set<std::string> seen;
  for (const RecordEvent& event : cluster.events()) {
    EXPECT_TRUE(
        seen.insert(absl::StrCat(event.reason, " ", event.action)).second)
        << event.reason << " " << event.note;
  }
}

bool Saw(const FakeCluster& cluster, const std::string& reason) {
  for (const RecordEvent& event : cluster.events()) {
    if (event.reason == reason) return true;
  }
  return false;
}

TEST(DecideTest, AJobStartsWithTheWishedPods) {
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

TEST(DecideTest, ScalingUpKeepsMembersAndAddsJoiners) {
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

TEST(DecideTest, ScalingDownLetsTheHighestSerialsLeave) {
  FakeCluster cluster(Spec(3));
  Settle(cluster, 3);
  cluster.Scale(1);
  Settle(cluster, 1);
  ExpectEachEventOnce(cluster);
  EXPECT_EQ(cluster.status().members, "0");
  EXPECT_EQ(cluster.status().transition->cause, "scale-down");
  EXPECT_EQ(cluster.status().generation, 2);
}

TEST(DecideTest, ALayoutEditAtTheSameSizeMovesNoPod) {
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

TEST(DecideTest, ADrainIsOneShrinkThenOneGrow) {
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

TEST(DecideTest, TheOnlyPodIsReplacedBeforeItGoes) {
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

TEST(DecideTest, ADrainGoesBelowTheMinimumRatherThanLoseState) {
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

TEST(DecideTest, APodThatCantBeScheduledIsNamedAndTrainingGoesOn) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.capacity = 2;
  cluster.Scale(3);
  cluster.Run(100);
  EXPECT_EQ(cluster.status().phase, "Running");
  EXPECT_EQ(cluster.status().replicas, 2);
  EXPECT_EQ(cluster.condition("Degraded").reason, "Unschedulable");
  EXPECT_THAT(cluster.status().reason, HasSubstr("gpt-2 can't be scheduled"));
  EXPECT_THAT(cluster.status().reason, HasSubstr("goes on with 2 pods"));
  EXPECT_EQ(cluster.status().ready, "2/3");
  cluster.capacity = 3;
  Settle(cluster, 3);
  EXPECT_THAT(cluster.status().reason, IsEmpty());
  EXPECT_TRUE(Saw(cluster, "Recovered"));
}

TEST(DecideTest, ScalingBackDeletesWhatIsNotScheduledFirst) {
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

TEST(DecideTest, ThoseThatAreReadyStartAfterTheDelay) {
  FakeCluster cluster(Spec(3));
  cluster.capacity = 2;
  cluster.Run(20);
  EXPECT_EQ(cluster.status().generation, 0);
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.status().replicas == 2; }))
      << cluster.journal();
  cluster.capacity = 3;
  Settle(cluster, 3);
}

TEST(DecideTest, JoinersThatAreReadyCloseTogetherCostOneTransition) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.capacity = 3;
  cluster.Scale(4);
  cluster.Run(8);
  cluster.capacity = 4;
  Settle(cluster, 4);
  EXPECT_EQ(cluster.status().generation, 2);
}

TEST(DecideTest, AnInfeasibleWishChangesNothingAndNamesTheNearest) {
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

TEST(DecideTest, AnInfeasibleWishIsRoundedDownIfThePolicySaysSo) {
  api::JobSpec spec = Spec(5);
  spec.parallelism.tp = {2, 2};
  spec.elastic.infeasible_policy = api::InfeasiblePolicy::kRoundDown;
  FakeCluster cluster(spec);
  Settle(cluster, 4);
  EXPECT_THAT(cluster.condition("LayoutFeasible").message,
              HasSubstr("rounded down to 4"));
}

TEST(DecideTest, ALayoutThatCantBeKeepsTheRunningOne) {
  FakeCluster cluster(Spec(4));
  Settle(cluster, 4);
  cluster.Edit([](api::JobSpec& spec) { spec.parallelism.tp = {3, 3}; });
  cluster.Run(50);
  EXPECT_EQ(cluster.status().layout.text, "dp4,tp1,pp1");
  EXPECT_EQ(cluster.status().generation, 1);
  EXPECT_EQ(cluster.status().feasible_replicas, "3, 6");
  EXPECT_THAT(cluster.status().reason, HasSubstr("nearest sizes"));
}

TEST(DecideTest, AJobWithoutAnyLayoutStartsNoPod) {
  api::JobSpec spec = Spec(1, 1, 1);
  spec.parallelism.tp = {2, 2};
  FakeCluster cluster(spec);
  cluster.Run(20);
  EXPECT_TRUE(cluster.pods().empty());
  EXPECT_EQ(cluster.status().phase, "Pending");
  EXPECT_EQ(cluster.status().feasible_replicas, "none");
}

TEST(DecideTest, CompletionIsSeenAndSurplusPodsGo) {
  FakeCluster cluster(Spec(2));
  cluster.last_step = 40;
  Settle(cluster, 2);
  cluster.capacity = 2;
  cluster.Scale(3);
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().phase == "Complete";
  })) << cluster.journal();
  cluster.Run(20);
  EXPECT_TRUE(cluster.condition("Complete").status);
  EXPECT_EQ(cluster.status().step, 40);
  EXPECT_FALSE(cluster.condition("Running").status);
  EXPECT_EQ(cluster.pods().size(), 2);  // for their logs
}

TEST(DecideTest, LostStateFailsTheJobAndNamesWho) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.Kill(1, 137);
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().phase == "Failed";
  })) << cluster.journal();
  cluster.Run(10);
  EXPECT_TRUE(cluster.condition("StateLost").status);
  EXPECT_THAT(cluster.condition("StateLost").message,
              HasSubstr("gpt-1 (exit code 137)"));
  EXPECT_TRUE(cluster.condition("Failed").status);
  EXPECT_TRUE(Saw(cluster, "StateLost"));
  for (const auto& [serial, pod] : cluster.pods()) {
    EXPECT_TRUE(pod.view.ended()) << serial;
  }
}

TEST(DecideTest, LostStateStartsAgainIfThePolicySaysSo) {
  api::JobSpec spec = Spec(2);
  spec.on_state_lost = api::OnStateLost::kRestart;
  FakeCluster cluster(spec);
  Settle(cluster, 2);
  cluster.Kill(1, 137);
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.status().restarts == 1; }));
  Settle(cluster, 2);
  EXPECT_EQ(cluster.status().members, "2-3");
  EXPECT_EQ(cluster.status().generation, 2);
  EXPECT_EQ(cluster.status().transition->cause, "restart");
}

TEST(DecideTest, AWishThatChangesBeforeDrainingSupersedes) {
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

TEST(DecideTest, RapidScalingEndsAtTheLastWish) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  for (const int replicas : {4, 3, 5, 1, 4}) {
    cluster.Scale(replicas);
    cluster.Run(3);
  }
  Settle(cluster, 4);
}

TEST(DecideTest, AVictimSetMayGrowWhileADrainIsPrepared) {
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

TEST(DecideTest, ARankThatNeverReachesTheBoundaryIsNamed) {
  api::JobSpec spec = Spec(2);
  spec.elastic.step_timeout = absl::Seconds(20);
  FakeCluster cluster(spec);
  Settle(cluster, 2);
  cluster.Scale(1);
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.status().transition->phase == "Draining"; }));
  cluster.pod(1).stuck = true;
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().transition->phase == "Aborted";
  })) << cluster.journal();
  EXPECT_THAT(cluster.status().transition->message,
              HasSubstr("not at the step boundary within 20s: "));
  EXPECT_THAT(cluster.status().transition->message,
              HasSubstr("rank 0 of gpt-1"));
  EXPECT_EQ(cluster.status().retry->attempts, 1);
  EXPECT_TRUE(Saw(cluster, "ResizeAborted"));
  cluster.Run(3);
  EXPECT_EQ(cluster.status().phase, "Running");
  EXPECT_THAT(cluster.status().reason, HasSubstr("not at the step boundary"));
  cluster.pod(1).stuck = false;
  Settle(cluster, 1);
  EXPECT_FALSE(cluster.status().retry.has_value());
}

TEST(DecideTest, TooLittleMemoryIsRefusedInTimeWithTheNumber) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  FakePod& tight = cluster.pod(1);
  tight.memory_limit_bytes = 512 << 20;
  tight.memory_used_bytes = 400 << 20;
  tight.new_bytes = 200 << 20;
  tight.cold = true;
  cluster.Scale(3);
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().transition->phase == "Aborted";
  })) << cluster.journal();
  EXPECT_THAT(
      cluster.status().reason,
      HasSubstr("memory of gpt-1: the planned peak of 600 MiB (400 MiB used "
                "and 200 MiB for the new world and staging) is above the "
                "container's limit of 512 MiB"));
  EXPECT_EQ(cluster.status().replicas, 2);
}

TEST(DecideTest, ARankThatRefusesToPrepareIsTriedAgainLater) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.pod(0).prepare_failure = "tensor w is on two ranks";
  cluster.Scale(3);
  cluster.Run(60);
  EXPECT_THAT(cluster.status().reason,
              AllOf(HasSubstr("the change to dp3,tp1,pp1 (pods 0-2) failed: "),
                    HasSubstr("gpt-0: "), HasSubstr("tensor w is on two ranks"),
                    HasSubstr("tried again after ")));
  const int attempts = cluster.status().retry->attempts;
  EXPECT_GE(attempts, 2);
  EXPECT_LE(attempts, 4);  // it rests longer each time
  EXPECT_EQ(cluster.status().replicas, 2);
  cluster.pod(0).prepare_failure.clear();
  Settle(cluster, 3);
}

TEST(DecideTest, AMemberThatDiesWhilePreparedIsLostState) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.Scale(3);
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.status().transition->phase == "Planned"; }));
  cluster.Kill(0, 1);
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().phase == "Failed";
  })) << cluster.journal();
  EXPECT_EQ(cluster.status().transition->phase, "Aborted");
}

TEST(DecideTest, AJoinerThatDiesIsReplaced) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.Scale(3);
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.status().transition->phase == "Planned"; }));
  cluster.Kill(2, 1);
  Settle(cluster, 3);
  EXPECT_EQ(cluster.status().members, "0-1,3");
  EXPECT_THAT(cluster.status().history[1].summary,
              HasSubstr("aborted: gpt-2 is gone"));
  EXPECT_TRUE(cluster.RunUntil([&] {
    return !cluster.has(2) && !cluster.status().pod_failures;
  })) << cluster.journal();
}

TEST(DecideTest, PodsThatEndBeforeTheyTrainAreReplacedEverMoreSlowly) {
  FakeCluster cluster(Spec(1));
  for (int i = 0; i < 300; ++i) {
    cluster.Tick();
    for (const auto& [serial, pod] : cluster.pods()) {
      if (pod.agent_up && !pod.view.ended()) cluster.Kill(serial, 1);
    }
  }
  EXPECT_LT(cluster.status().next_serial, 10);
  EXPECT_EQ(cluster.status().phase, "Pending");
  EXPECT_EQ(cluster.condition("Degraded").reason, "PodFailed");
  EXPECT_THAT(cluster.condition("Degraded").message, HasSubstr("kubectl logs"));
  EXPECT_THAT(cluster.status().reason, HasSubstr("exit code 1"));
  EXPECT_EQ(cluster.pods().size(), 1);  // the last one, for its logs
}

TEST(DecideTest, APodThatCantBeCreatedIsSaid) {
  FakeCluster cluster(Spec(2));
  cluster.create_failure = "exceeded quota: pods=1";
  cluster.Run(30);
  EXPECT_EQ(cluster.condition("Degraded").reason, "PodCreateFailed");
  EXPECT_THAT(cluster.status().reason, HasSubstr("exceeded quota"));
  EXPECT_LE(cluster.status().next_serial, 10);
  cluster.create_failure.clear();
  Settle(cluster, 2);
  EXPECT_THAT(cluster.status().reason, IsEmpty());
}

TEST(DecideTest, ANamespaceThatIsBeingDeletedEndsTheJobQuietly) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.create_failure = "Forbidden: it is being terminated";
  cluster.namespace_ends = true;
  cluster.Evict(1);  // as the namespace's controller does
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().phase == "Failed";
  })) << cluster.journal();
  EXPECT_EQ(cluster.condition("Failed").reason, "NamespaceTerminating");
  ASSERT_TRUE(cluster.RunUntil([&] {
    return std::all_of(
        cluster.pods().begin(), cluster.pods().end(),
        [](const auto& entry) { return entry.second.view.ended(); });
  })) << cluster.journal();
  const int actions = cluster.actions_done();
  cluster.RestartOperator();  // and the next one knows too
  cluster.Run(100);
  EXPECT_EQ(cluster.actions_done(), actions);
}

TEST(DecideTest, SuspendingEndsThePodsAndResumingStartsAgain) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.Edit([](api::JobSpec& spec) { spec.suspend = true; });
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.pods().empty(); }))
      << cluster.journal();
  EXPECT_EQ(cluster.status().phase, "Suspended");
  EXPECT_THAT(cluster.condition("Suspended").message,
              HasSubstr("starts from init"));
  EXPECT_TRUE(cluster.condition("StateLost").status);
  EXPECT_TRUE(Saw(cluster, "StateLost"));  // a warning
  cluster.Run(10);
  EXPECT_TRUE(cluster.pods().empty());
  cluster.Edit([](api::JobSpec& spec) { spec.suspend = false; });
  Settle(cluster, 2);
  EXPECT_EQ(cluster.status().members, "2-3");
}

TEST(DecideTest, WhatIsSaidOfPodsEndsWithThem) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.capacity = 2;
  cluster.Scale(3);
  ASSERT_TRUE(
      cluster.RunUntil([&] { return cluster.condition("Degraded").status; }));
  cluster.Edit([](api::JobSpec& spec) { spec.suspend = true; });
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.pods().empty(); }))
      << cluster.journal();
  EXPECT_FALSE(cluster.condition("Degraded").status);
  EXPECT_EQ(cluster.condition("Degraded").reason, "Suspended");
  EXPECT_FALSE(Saw(cluster, "Recovered"));  // nothing has
  EXPECT_EQ(cluster.status().ready, "0/0");
}

TEST(DecideTest, ADeletedJobsPodsAreDismissed) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.DeleteJob();
  ASSERT_TRUE(cluster.RunUntil([&] {
    for (const auto& [serial, pod] : cluster.pods()) {
      if (!pod.view.ended()) return false;
    }
    return true;
  }));
}

TEST(DecideTest, AJobThatTrainsIsWrittenRarely) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  const int before = cluster.status_writes();
  cluster.Run(300);
  EXPECT_LE(cluster.status_writes() - before, 11);  // progress, each 30 s
  EXPECT_GT(cluster.status().step, 250);
  EXPECT_EQ(cluster.status().loss, "2.5000");
}

TEST(DecideTest, ATransitionCostsAFewWrites) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  const int before = cluster.status_writes();
  cluster.Scale(3);
  Settle(cluster, 3);
  EXPECT_LE(cluster.status_writes() - before, 8);
}

TEST(DecideTest, AnOperatorWithAnOldTermDoesNothing) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  Snapshot snapshot = cluster.Look();
  snapshot.job.spec->replicas = 3;
  snapshot.job.status.operator_term = snapshot.term + 1;
  EXPECT_THAT(
      Decide(snapshot),
      ::testing::ElementsAre(::testing::VariantWith<StandDown>(::testing::_)));
  snapshot = cluster.Look();
  snapshot.agents[0].observation.term = snapshot.term + 1;
  EXPECT_THAT(
      Decide(snapshot),
      ::testing::ElementsAre(::testing::VariantWith<StandDown>(::testing::_)));
}

TEST(DecideTest, ABadSpecIsSaidAndWhatRunsGoesOn) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  Snapshot snapshot = cluster.Look();
  snapshot.job.spec = absl::InvalidArgumentError("spec.replicas: -1 is not ok");
  const std::vector<Action> actions = Decide(snapshot);
  ASSERT_FALSE(actions.empty());
  const auto* write = std::get_if<WriteStatus>(&actions[0]);
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->status.reason, "spec.replicas: -1 is not ok");
  EXPECT_EQ(write->status.members, "0-1");
}

TEST(DecideTest, TheSameSnapshotGivesTheSameActions) {
  FakeCluster cluster(Spec(3));
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(Decide(cluster.Look()), Decide(cluster.Look()));
    cluster.Tick();
  }
}

// The operator dies after its n-th action, for every n, in a story that has a
// start, a scale-up, a layout edit, a drain and a scale-down.
TEST(DecideTest, AnOperatorThatDiesAnywhereIsTakenOverFrom) {
  const auto story = [](int crash_after) {
    FakeCluster cluster(Spec(2));
    cluster.CrashAfter(crash_after);
    Settle(cluster, 2);
    cluster.Scale(4);
    Settle(cluster, 4);
    cluster.Edit([](api::JobSpec& spec) { spec.parallelism.tp = {2, 2}; });
    EXPECT_TRUE(cluster.RunUntil([&] {
      return cluster.status().layout.text == "dp2,tp2,pp1" &&
             cluster.Settled(4);
    })) << cluster.journal();
    // A serial may have been skipped.
    const uint32_t victim = cluster.pods().begin()->first;
    cluster.Evict(victim);
    EXPECT_TRUE(cluster.RunUntil([&] { return !cluster.has(victim); }))
        << cluster.journal();
    Settle(cluster, 4);
    cluster.Scale(2);
    Settle(cluster, 2);
    EXPECT_FALSE(cluster.condition("StateLost").status);
    return cluster.actions_done();
  };
  const int actions = story(-1);
  EXPECT_GT(actions, 50);
  for (int n = 1; n <= actions && !::testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE(absl::StrCat("the operator dies after action ", n));
    story(n);
  }
}

TEST(DecideTest, SeveralRanksInAPodMoveTogether) {
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

TEST(DecideTest, VerifiedAgentsWaitForAnOperatorThatIsAway) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.Scale(1);
  const auto verified = [&] {
    return cluster.pod(0).participant.phase() == transition::Phase::kVerified &&
           cluster.pod(1).participant.phase() == transition::Phase::kVerified;
  };
  ASSERT_TRUE(cluster.RunUntil(verified)) << cluster.journal();
  ASSERT_EQ(cluster.status().transition->phase, "Draining");
  cluster.operator_away = true;
  cluster.Run(400);  // longer than every deadline
  EXPECT_TRUE(verified());
  cluster.RestartOperator();
  cluster.operator_away = false;
  Settle(cluster, 1);
  EXPECT_EQ(cluster.status().generation, 2);
  EXPECT_EQ(cluster.status().transition->phase, "Released");
}

TEST(DecideTest, AMemberWhoseAgentIsSilentIsNamed) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.pod(1).silent = true;
  cluster.Run(3);
  EXPECT_EQ(cluster.condition("Degraded").reason, "AgentSilent");
  EXPECT_THAT(cluster.status().reason, HasSubstr("agent of gpt-1"));
  EXPECT_EQ(cluster.status().phase, "Running");
  // A transition can't be prepared with it; it is given up and named.
  cluster.Edit([](api::JobSpec& spec) {
    spec.elastic.transition_timeout = absl::Seconds(30);
    spec.replicas = 3;
  });
  ASSERT_TRUE(cluster.RunUntil([&] {
    return cluster.status().transition->phase == "Aborted";
  })) << cluster.journal();
  EXPECT_THAT(cluster.status().transition->message,
              HasSubstr("not prepared within 30s: waited for gpt-1 (silent)"));
  cluster.pod(1).silent = false;
  Settle(cluster, 3);
}

TEST(DecideTest, SuspendingWhileATransitionIsPreparedGivesItUp) {
  FakeCluster cluster(Spec(2));
  Settle(cluster, 2);
  cluster.Scale(1);
  cluster.Run(2);
  ASSERT_EQ(cluster.status().transition->phase, "Planned");
  cluster.Edit([](api::JobSpec& spec) { spec.suspend = true; });
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.pods().empty(); }))
      << cluster.journal();
  EXPECT_EQ(cluster.status().transition->phase, "Superseded");
}

TEST(DecideTest, AJobSuspendedFromTheStartHasNoPods) {
  api::JobSpec spec = Spec(2);
  spec.suspend = true;
  FakeCluster cluster(spec);
  cluster.Run(10);
  EXPECT_TRUE(cluster.pods().empty());
  EXPECT_EQ(cluster.status().phase, "Suspended");
  EXPECT_EQ(cluster.condition("Suspended").message, "no pods are created");
}

TEST(DecideTest, AJobThatIsOverIsLeftAlone) {
  FakeCluster cluster(Spec(2));
  cluster.last_step = 10;
  ASSERT_TRUE(
      cluster.RunUntil([&] { return cluster.status().phase == "Complete"; }));
  cluster.Run(5);
  cluster.RestartOperator();
  EXPECT_THAT(Decide(cluster.Look()), IsEmpty());
}

// Pods die at any time; with onStateLost: Restart the job comes back.
TEST(DecideTest, WhoeverDiesTheJobComesBack) {
  for (int round = 0; round < 60 && !::testing::Test::HasFailure(); ++round) {
    std::mt19937_64 random = TestRandom(1000 + round);
    SCOPED_TRACE(absl::StrCat("stream ", 1000 + round));
    api::JobSpec spec = Spec(1 + random() % 4);
    spec.on_state_lost = api::OnStateLost::kRestart;
    FakeCluster cluster(spec);
    for (int i = 0; i < 30; ++i) {
      cluster.Run(1 + random() % 8);
      if (random() % 3 == 0) cluster.Scale(1 + random() % 5);
      if (random() % 5 == 0) cluster.RestartOperator();
      if (random() % 4 != 0 || cluster.pods().empty()) continue;
      const auto victim =
          std::next(cluster.pods().begin(), random() % cluster.pods().size());
      if (!victim->second.view.ended()) cluster.Kill(victim->first, 137);
    }
    cluster.Scale(2);
    EXPECT_TRUE(cluster.RunUntil([&] { return cluster.Settled(2); }, 2000))
        << cluster.journal() << api::ToJson(cluster.status());
  }
}

// Users and nodes do anything at any time; in the end the last wish is met.
TEST(DecideTest, WhateverHappensTheLastWishIsMet) {
  for (int round = 0; round < 80 && !::testing::Test::HasFailure(); ++round) {
    std::mt19937_64 random = TestRandom(round);
    SCOPED_TRACE(absl::StrCat("stream ", round));
    FakeCluster cluster(Spec(1 + random() % 4));
    for (int i = 0; i < 40; ++i) {
      cluster.Run(1 + random() % 6);
      const int dice = random() % 10;
      if (dice < 4) cluster.Scale(1 + random() % 6);
      if (dice == 4) cluster.RestartOperator();
      if (dice == 5) {
        const int tp = 1 + random() % 2;
        cluster.Edit([&](api::JobSpec& s) { s.parallelism.tp = {1, tp}; });
      }
      if (dice == 6) cluster.capacity = 1 + random() % 8;
      if (dice == 7) {
        for (const auto& [serial, pod] : cluster.pods()) {
          if (pod.view.deletion_time || pod.view.ended()) continue;
          if (random() % 3 == 0) {
            cluster.Evict(serial, absl::Seconds(300));
            break;
          }
        }
      }
    }
    cluster.capacity = 1000;
    cluster.Edit([](api::JobSpec& spec) { spec.parallelism.tp = {1, 2}; });
    cluster.Scale(3);
    EXPECT_TRUE(cluster.RunUntil([&] { return cluster.Settled(3); }, 2000))
        << cluster.journal() << api::ToJson(cluster.status());
  }
}

}  // namespace
}  // namespace dynatrain::control
