// What goes wrong, who is named for it, and that training goes on.
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/reconcile/decide.h"
#include "operator/reconcile/decide_testutil.h"
#include "operator/reconcile/fake_cluster.h"

namespace dynatrain::control {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DecideTroubleTest, APodThatCantBeScheduledIsNamedAndTrainingGoesOn) {
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

TEST(DecideTroubleTest, ARankThatNeverReachesTheBoundaryIsNamed) {
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

TEST(DecideTroubleTest, TooLittleMemoryIsRefusedInTimeWithTheNumber) {
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

TEST(DecideTroubleTest, ARankThatRefusesToPrepareIsTriedAgainLater) {
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

TEST(DecideTroubleTest, AMemberThatDiesWhilePreparedIsLostState) {
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

TEST(DecideTroubleTest, AJoinerThatDiesIsReplaced) {
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

TEST(DecideTroubleTest, PodsThatEndBeforeTheyTrainAreReplacedEverMoreSlowly) {
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
  EXPECT_THAT(cluster.condition("Degraded").message,
              AllOf(HasSubstr("`kubectl logs gpt-"), HasSubstr("in a row")));
  EXPECT_THAT(cluster.status().reason, HasSubstr("exit code 1"));
  EXPECT_EQ(cluster.pods().size(), 1);  // the last one, for its logs
}

TEST(DecideTroubleTest, APodThatCantBeCreatedIsSaid) {
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

TEST(DecideTroubleTest, AMemberWhoseAgentIsSilentIsNamed) {
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

TEST(DecideTroubleTest, ABadSpecIsSaidAndWhatRunsGoesOn) {
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

}  // namespace
}  // namespace dynatrain::control
