// Whole transitions between real agent processes with fake ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/client/client.h"
#include "tests/agent/agent_process.h"
#include "tests/agent/test_operator.h"
#include "transition/commit/coordinator.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using transition::Action;
using transition::Decision;
using transition::Phase;
using transition::RecordPhase;

Deadline Soon() { return Deadline::After(kPatience); }

// Two pods of two ranks, a and b, and whoever joins.
class TransitionTest : public ::testing::Test {
 protected:
  AgentProcess& Pod(uint32_t serial, const std::string& tricks = "",
                    int grace_seconds = 120) {
    pods_.push_back(std::make_unique<AgentProcess>(
        AgentProcess::Options{.serial = serial,
                              .ranks = 2,
                              .tricks = tricks,
                              .grace_seconds = grace_seconds}));
    return *pods_.back();
  }

  std::vector<AgentProcess*> All() {
    std::vector<AgentProcess*> all;
    for (const auto& pod : pods_) all.push_back(pod.get());
    return all;
  }

  TestOperator Operator(uint64_t term) {
    return TestOperator(term, All(), &record_);
  }

  // Starts the job with these pods at generation 1.
  void Start(const std::vector<AgentProcess*>& pods) {
    TestOperator op(1, pods, &record_);
    op.Plan(1, {}, pods);
    op.Drive();
    ASSERT_EQ(record_.phase, RecordPhase::kReleased) << record_.reason;
  }

  std::vector<std::unique_ptr<AgentProcess>> pods_;
  Record record_;
};

bool Waits(const Decision& decision) {
  return decision.action == Action::kWait;
}

TEST_F(TransitionTest, StartsGrowsAndShrinksAndTheFirstMemberLeaves) {
  AgentProcess& a = Pod(1);
  Start({&a});
  Observation seen = a.Look();
  EXPECT_EQ(seen.committed_generation, 1);
  EXPECT_EQ(seen.manifest_digest, "m1");
  EXPECT_EQ(a.api().GetManifest(Soon())->json, R"({"version":1,"tensors":[]})");
  EXPECT_EQ(seen.ranks[1].state, RankState::kTraining);
  EXPECT_EQ(seen.transition.ranks[0].pause_ms, 5.0);

  AgentProcess& b = Pod(2);
  TestOperator grow = Operator(2);
  grow.Plan(2, {&a}, {&a, &b});
  grow.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kReleased);
  EXPECT_EQ(b.Look().committed_generation, 2);
  const uint64_t step = a.Look().transition.armed_step;
  EXPECT_GT(step, 0);
  EXPECT_EQ(a.Look().transition.ranks[0].stopped_step, step);
  EXPECT_EQ(a.Look().transition.ranks[1].pause_parts_ms.at("transfer"), 1.0);

  TestOperator shrink = Operator(3);
  shrink.Plan(3, {&a, &b}, {&b});
  shrink.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kReleased);
  EXPECT_EQ(a.AwaitExit(), 86);
  b.Await("training in 3", [](const Observation& o) {
    return o.ranks[0].generation == 3 &&
           o.ranks[0].state == RankState::kTraining;
  });
}

TEST_F(TransitionTest, AFailedPreparationCostsNothing) {
  AgentProcess& a = Pod(1);
  Start({&a});
  AgentProcess& b = Pod(2, "fail_prepare@1");
  TestOperator op = Operator(2);
  op.Plan(2, {&a}, {&a, &b});
  op.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kAborted);
  EXPECT_EQ(record_.reason,
            "serial 2: local rank 1: plan: tensor w has another shape");
  const Observation seen = a.Look();
  EXPECT_EQ(seen.committed_generation, 1);
  EXPECT_EQ(seen.transition.phase, Phase::kAborted);
  // Training goes on in the old world.
  a.Await("more steps", [&](const Observation& o) {
    return o.ranks[0].step > seen.ranks[0].step + 5 &&
           o.ranks[0].generation == 1;
  });
}

TEST_F(TransitionTest, WhoPlansAnotherThingIsNamedBeforeItIsPrepared) {
  AgentProcess& a = Pod(1);
  Start({&a});
  AgentProcess& b = Pod(2, "bad_plan");
  TestOperator op = Operator(2);
  op.Plan(2, {&a}, {&a, &b});
  op.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kAborted);
  EXPECT_EQ(record_.reason,
            "serial 2 has another plan than serial 1; they differ in: target "
            "layout");
  const Observation seen = a.Look();
  EXPECT_EQ(seen.committed_generation, 1);
  // Training goes on in the old world.
  a.Await("more steps", [&](const Observation& o) {
    return o.ranks[0].step > seen.ranks[0].step + 5 &&
           o.ranks[0].generation == 1;
  });
}

TEST_F(TransitionTest, ARankThatRefusesArmKeepsAllTraining) {
  AgentProcess& a = Pod(1, "refuse_arm@1");
  Start({&a});
  TestOperator op = Operator(2);
  op.Plan(2, {&a}, {&a});
  op.Drive([](const Decision& d) { return d.action == Action::kArm; });
  const ArmReply reply = *a.api().Arm(op.Fence("p2"), 1000000, Soon());
  EXPECT_TRUE(reply.refused);
  EXPECT_THAT(reply.reason, HasSubstr("local rank 1 is past step 1000000"));
  EXPECT_GT(reply.seen, 0);
  EXPECT_EQ(a.Look().transition.phase, Phase::kPrepared);
  op.give_up = "it never stops";
  op.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kAborted);
}

TEST_F(TransitionTest, ARankThatDoesNotAnswerArmIsNamed) {
  AgentProcess& a = Pod(1, "no_arm_answer@1");
  Start({&a});
  TestOperator op = Operator(2);
  op.Plan(2, {&a}, {&a});
  op.Drive(
      [](const Decision& d) { return d.action == Action::kWriteDraining; });
  const ArmReply reply = *a.api().Arm(op.Fence("p2"), 1000000, Soon());
  EXPECT_TRUE(reply.refused);
  EXPECT_EQ(reply.reason, "local rank 1 did not answer within 3 s");
}

TEST_F(TransitionTest, OfAStopThatIsTakenBackNothingIsLeftToSee) {
  AgentProcess& a = Pod(1);
  Start({&a});
  TestOperator op = Operator(2);
  op.Plan(2, {&a}, {&a});
  op.Drive(
      [](const Decision& d) { return d.action == Action::kWriteDraining; });
  const uint64_t step = a.Look().ranks[0].step + 100;
  const ArmReply reply = *a.api().Arm(op.Fence("p2"), step, Soon());
  ASSERT_FALSE(reply.refused) << reply.reason;
  const auto all_stopped = [](const Observation& o) {
    return o.transition.ranks[0].stopped && o.transition.ranks[1].stopped;
  };
  a.Await("both stopped", all_stopped);
  ASSERT_TRUE(a.api().Cancel(op.Fence("p2"), Soon()).ok());
  const Observation seen = a.Look();
  EXPECT_FALSE(seen.transition.ranks[0].stopped);
  EXPECT_FALSE(seen.transition.ranks[1].stopped);
  op.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kReleased) << record_.reason;
  EXPECT_TRUE(all_stopped(a.Look()));
}

TEST_F(TransitionTest, AnOperatorThatRestartsAnywhereGoesOn) {
  AgentProcess& a = Pod(1);
  Start({&a});
  AgentProcess& b = Pod(2);
  TestOperator first = Operator(2);
  first.Plan(2, {&a}, {&a, &b});
  // A new operator for every single decision.
  uint64_t term = 3;
  const Deadline deadline = Soon();
  while (record_.phase != RecordPhase::kReleased && !deadline.Passed()) {
    TestOperator next = Operator(term++);
    Decision decision = next.Turn();
    if (decision.action == Action::kGreet) decision = next.Turn();
    if (Waits(decision)) {
      a.api().Observe(a.Look().version, milliseconds(20), Soon()).IgnoreError();
    }
  }
  EXPECT_EQ(record_.phase, RecordPhase::kReleased) << record_.reason;
  EXPECT_EQ(b.Look().committed_generation, 2);
}

TEST_F(TransitionTest, ADeposedOperatorIsNotObeyed) {
  AgentProcess& a = Pod(1);
  Start({&a});
  TestOperator old = Operator(2);
  old.Plan(2, {&a}, {&a});
  old.Drive(
      [](const Decision& d) { return d.action == Action::kWriteDraining; });
  ASSERT_TRUE(a.api().Greet({3, 0, ""}, Soon()).ok());
  for (const absl::Status& status :
       {a.api().Go(old.Fence("p2"), Soon()),
        a.api().Cancel(old.Fence("p2"), Soon()),
        a.api().Commit(old.Fence("p2"), Soon()),
        a.api().Abort(old.Fence(), "x", Soon()),
        a.api().Dismiss(old.Fence(), "x", Soon()),
        a.api().Arm(old.Fence("p2"), 1000000, Soon()).status(),
        a.api().Prepare(old.Fence(), record_.transition, Soon())}) {
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_THAT(status.message(),
                HasSubstr("deposed: this command has term 2"));
  }
  EXPECT_EQ(old.Turn().action, Action::kStandDown);
  EXPECT_EQ(a.Look().transition.phase, Phase::kPrepared);
}

TEST_F(TransitionTest, InDoubtWaitsUntilItIsTold) {
  AgentProcess& a = Pod(1);
  Start({&a});
  AgentProcess& b = Pod(2);
  {
    TestOperator op = Operator(2);
    op.Plan(2, {&a}, {&a, &b});
    record_.transition.transfer_deadline = milliseconds(200);
    op.Drive(
        [](const Decision& d) { return d.action == Action::kWriteCommitted; });
    record_.phase = RecordPhase::kDraining;  // it died before the write
  }
  // Five times the deadline; nothing may change, which is what is waited for.
  Observation seen = a.AwaitPhase(Phase::kVerified);
  seen = *a.api().Observe(seen.version, milliseconds(1000), Soon());
  EXPECT_EQ(seen.transition.phase, Phase::kVerified);
  EXPECT_EQ(seen.ranks[0].state, RankState::kStopped);
  TestOperator next = Operator(3);
  next.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kReleased);
}

TEST_F(TransitionTest, AbortIsTheWayOutOfDoubtToo) {
  AgentProcess& a = Pod(1);
  AgentProcess& b = Pod(2, "no_verify@0");
  Start({&a});
  TestOperator op = Operator(2);
  op.Plan(2, {&a}, {&a, &b});
  op.Drive([&](const Decision& d) {
    return Waits(d) && a.Look().transition.phase == Phase::kVerified;
  });
  op.give_up = "serial 2 does not verify";
  op.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kAborted);
  a.Await("training in the old world", [&](const Observation& o) {
    return o.ranks[0].generation == 1 &&
           o.ranks[0].step > o.transition.ranks[0].stopped_step;
  });
}

TEST_F(TransitionTest, ADeadlineFailsItAloneAndWithoutTheOperator) {
  AgentProcess& a = Pod(1, "no_verify_later@1");
  Start({&a});
  TestOperator op = Operator(2);
  op.Plan(2, {&a}, {&a});
  record_.transition.transfer_deadline = milliseconds(100);
  op.Drive([](const Decision& d) { return d.action == Action::kGo; });
  const Observation seen = a.AwaitPhase(Phase::kFailed);
  EXPECT_EQ(seen.transition.failure,
            "not verified within 100 ms after all local ranks had stopped");
  a.AwaitLine("[1] event abort 2");
  a.Await("training in the old world", [&](const Observation& o) {
    return o.ranks[0].step > seen.transition.armed_step;
  });
  op.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kAborted);
}

TEST_F(TransitionTest, ARankKilledInTheMiddleFailsThePodByName) {
  AgentProcess& a = Pod(1, "no_verify");
  AgentProcess& b = Pod(2);
  Start({&b});
  TestOperator op = Operator(2);
  op.Plan(2, {&b}, {&b, &a});
  op.Drive([&](const Decision& d) {
    return Waits(d) && a.Look().transition.phase == Phase::kTransferring;
  });
  ::kill(static_cast<pid_t>(a.Look().ranks[1].os_pid), SIGKILL);
  EXPECT_EQ(a.AwaitExit(), 128 + SIGKILL);
  EXPECT_THAT(a.Output(), HasSubstr("local rank 1 was killed by signal 9"));
  op.Drive();
  EXPECT_EQ(record_.phase, RecordPhase::kAborted);
  EXPECT_EQ(record_.reason, "serial 1 is gone");
  EXPECT_EQ(b.Look().committed_generation, 1);
}

TEST_F(TransitionTest, ALeaveNoticeEndsInExitCode86) {
  AgentProcess& a = Pod(1);
  AgentProcess& b = Pod(2);
  Start({&a, &b});
  a.Signal(SIGTERM);
  const Observation seen =
      a.Await("leaving", [](const Observation& o) { return o.leaving; });
  ASSERT_TRUE(seen.leave_deadline.has_value());
  EXPECT_GT(*seen.leave_deadline, milliseconds(100000));
  EXPECT_LE(*seen.leave_deadline, milliseconds(117000));
  EXPECT_EQ(seen.ranks[0].state, RankState::kTraining);
  TestOperator op = Operator(2);
  op.Plan(2, {&a, &b}, {&b});
  op.Drive();
  EXPECT_EQ(a.AwaitExit(), 86);
}

TEST_F(TransitionTest, WhenTheGraceEndsTheRanksGetSigterm) {
  AgentProcess& a = Pod(1, "", /*grace_seconds=*/3);
  Start({&a});
  a.Signal(SIGTERM);
  EXPECT_EQ(a.AwaitExit(), 128 + SIGTERM);
}

TEST_F(TransitionTest, APodThatNeverWasInTheLayoutGoesAtOnce) {
  AgentProcess& a = Pod(1);
  a.AwaitHello();
  a.Signal(SIGTERM);
  EXPECT_EQ(a.AwaitExit(), 87);
  EXPECT_THAT(a.Output(), HasSubstr("[1] event dismissed"));
}

TEST_F(TransitionTest, DismissEndsThePod) {
  AgentProcess& a = Pod(1);
  Start({&a});
  ASSERT_TRUE(a.api().Dismiss({1, 0, ""}, "the job is deleted", Soon()).ok());
  EXPECT_EQ(a.AwaitExit(), 87);
}

TEST_F(TransitionTest, DataThatIsExhaustedEndsWithZero) {
  AgentProcess& a = Pod(1, "finish=200");
  Start({&a});
  EXPECT_EQ(a.AwaitExit(), 0);
}

TEST_F(TransitionTest, ALateStoreCallGetsAClearError) {
  AgentProcess& a = Pod(1, "late_store@0");
  AgentProcess& b = Pod(2, "late_store@0");
  Start({&a, &b});
  for (AgentProcess* pod : {&a, &b}) {
    pod->AwaitLine(
        "[0] event late store: closed: the store of generation 1 is over: it "
        "is committed");
  }
}

TEST_F(TransitionTest, FilesAndThreadsStayFlatOverFiftyTransitions) {
  AgentProcess& a = Pod(1);
  AgentProcess& b = Pod(2);
  Start({&a, &b});
  int files = 0, threads = 0;
  for (uint64_t generation = 2; generation <= 51; ++generation) {
    TestOperator op = Operator(generation);
    const std::vector<AgentProcess*> world =
        generation % 2 == 0 ? std::vector<AgentProcess*>{&b, &a}
                            : std::vector<AgentProcess*>{&a, &b};
    op.Plan(generation, world, world);
    op.Drive();
    ASSERT_EQ(record_.phase, RecordPhase::kReleased) << record_.reason;
    if (generation == 11) {
      files = a.CountFiles();
      threads = a.CountThreads();
    }
  }
  // gRPC keeps up to a handful of spare threads; a leak would be 40 or more.
  EXPECT_LE(a.CountFiles(), files + 4);
  EXPECT_LE(a.CountThreads(), threads + 8);
}

}  // namespace
}  // namespace dynatrain::agent
