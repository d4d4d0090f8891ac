// How a job ends, and that nothing is done after it.
#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/reconcile/decide.h"
#include "operator/reconcile/decide_testutil.h"
#include "operator/reconcile/fake_cluster.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DecideEndingsTest, CompletionIsSeenAndSurplusPodsGo) {
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

TEST(DecideEndingsTest, LostStateFailsTheJobAndNamesWho) {
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

TEST(DecideEndingsTest, LostStateStartsAgainIfThePolicySaysSo) {
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

TEST(DecideEndingsTest, ANamespaceThatIsBeingDeletedEndsTheJobQuietly) {
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

TEST(DecideEndingsTest, SuspendingEndsThePodsAndResumingStartsAgain) {
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

TEST(DecideEndingsTest, WhatIsSaidOfPodsEndsWithThem) {
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

TEST(DecideEndingsTest, SuspendingWhileATransitionIsPreparedGivesItUp) {
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

TEST(DecideEndingsTest, AJobSuspendedFromTheStartHasNoPods) {
  api::JobSpec spec = Spec(2);
  spec.suspend = true;
  FakeCluster cluster(spec);
  cluster.Run(10);
  EXPECT_TRUE(cluster.pods().empty());
  EXPECT_EQ(cluster.status().phase, "Suspended");
  EXPECT_EQ(cluster.condition("Suspended").message, "no pods are created");
}

TEST(DecideEndingsTest, ADeletedJobsPodsAreDismissed) {
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

TEST(DecideEndingsTest, AJobThatIsOverIsLeftAlone) {
  FakeCluster cluster(Spec(2));
  cluster.last_step = 10;
  ASSERT_TRUE(
      cluster.RunUntil([&] { return cluster.status().phase == "Complete"; }));
  cluster.Run(5);
  cluster.RestartOperator();
  EXPECT_THAT(Decide(cluster.Look()), IsEmpty());
}

}  // namespace
}  // namespace dynatrain::control
