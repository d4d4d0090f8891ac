// What holds whatever happens: operators that die or are deposed, few writes,
// one answer to one snapshot.
#include "operator/reconcile/decide.h"

#include <cstdlib>
#include <iterator>
#include <random>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/reconcile/decide_testutil.h"
#include "operator/reconcile/fake_cluster.h"

namespace dynatrain::control {
namespace {

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

// In a long run (make test-long) many more.
int Rounds(int usual) {
  return std::getenv("DYNATRAIN_LONG") != nullptr ? 50 * usual : usual;
}

// Pods die at any time; with onStateLost: Restart the job comes back.
TEST(DecideTest, WhoeverDiesTheJobComesBack) {
  for (int round = 0; round < Rounds(60) && !::testing::Test::HasFailure();
       ++round) {
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
  for (int round = 0; round < Rounds(80) && !::testing::Test::HasFailure();
       ++round) {
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
