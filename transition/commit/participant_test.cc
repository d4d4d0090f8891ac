#include "transition/commit/participant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = RankOrder::Kind;
using std::chrono::milliseconds;

constexpr uint64_t kTerm = 3, kGeneration = 4, kStep = 12;
const Fence kFence{kTerm, kGeneration, "d1"};
const Fence kEarly{kTerm, kGeneration, ""};

// A pod with two ranks that trains in generation 3 and survives into 4.
class ParticipantTest : public ::testing::Test {
 protected:
  ParticipantTest() {
    // Generation 3 is its first: it joined there.
    const Fence first{1, 3, "d0"};
    EXPECT_TRUE(p_.Prepare({1, 3, ""}, Terms("first", 3, 2, false), now_).ok());
    Both([&](int r) { return p_.RankPrepared(r, 3, "d0"); });
    EXPECT_TRUE(p_.Go(first, now_).ok());
    Both([&](int r) { return p_.RankVerified(r, 3); });
    EXPECT_TRUE(p_.Commit(first).ok());
    Both([&](int r) { return p_.RankReleased(r, 3); });
    EXPECT_EQ(p_.phase(), Phase::kReleased);
    p_.TakeOrders();
  }

  static TransitionTerms Terms(std::string id, uint64_t generation,
                               uint64_t source, bool in_source) {
    return {std::move(id), generation,         source,           in_source,
            true,          milliseconds(1000), milliseconds(500)};
  }

  void Both(const std::function<absl::Status(int)>& report) {
    for (int rank : {0, 1}) {
      const absl::Status status = report(rank);
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  void Prepare() {
    ASSERT_TRUE(
        p_.Prepare(kEarly, Terms("t", kGeneration, 3, true), now_).ok());
    Both([&](int r) { return p_.RankPrepared(r, kGeneration, "d1"); });
  }
  void Arm() {
    ASSERT_TRUE(p_.Arm(kFence, kStep).ok());
    Both([&](int r) {
      return p_.RankArmed(r, kGeneration, kStep, true, kStep - 1);
    });
  }
  void Verify() {
    ASSERT_TRUE(p_.Go(kFence, now_).ok());
    Both([&](int r) { return p_.RankStopped(r, kGeneration, kStep, now_); });
    Both([&](int r) { return p_.RankVerified(r, kGeneration); });
  }
  // Takes it to `phase` by the straight way.
  void Reach(Phase phase) {
    if (phase >= Phase::kPreparing) {
      ASSERT_TRUE(
          p_.Prepare(kEarly, Terms("t", kGeneration, 3, true), now_).ok());
    }
    if (phase == Phase::kFailed) {
      ASSERT_TRUE(p_.RankFailed(1, kGeneration, "plan: no memory").ok());
    } else if (phase == Phase::kAborted) {
      ASSERT_TRUE(p_.Abort(kEarly, "told so").ok());
    } else {
      if (phase >= Phase::kPrepared) {
        Both([&](int r) { return p_.RankPrepared(r, kGeneration, "d1"); });
      }
      if (phase >= Phase::kArmed) Arm();
      if (phase >= Phase::kTransferring) {
        ASSERT_TRUE(p_.Go(kFence, now_).ok());
      }
      if (phase >= Phase::kVerified) Verify();
      if (phase >= Phase::kCommitted) {
        ASSERT_TRUE(p_.Commit(kFence).ok());
      }
      if (phase >= Phase::kReleased) {
        Both([&](int r) { return p_.RankReleased(r, kGeneration); });
      }
    }
    ASSERT_EQ(p_.phase(), phase);
    p_.TakeOrders();
  }

  std::vector<Kind> Orders() {
    std::vector<Kind> kinds;
    for (const RankOrder& order : p_.TakeOrders()) kinds.push_back(order.kind);
    return kinds;
  }

  Participant::Time now_{};
  Participant p_{2};
};

TEST_F(ParticipantTest, GoesThroughAWholeTransition) {
  Prepare();
  EXPECT_EQ(p_.phase(), Phase::kPrepared);
  Arm();
  EXPECT_EQ(p_.phase(), Phase::kArmed);
  EXPECT_EQ(p_.armed_step(), kStep);
  Verify();
  EXPECT_EQ(p_.phase(), Phase::kVerified);
  EXPECT_EQ(p_.committed_generation(), 3);
  ASSERT_TRUE(p_.Commit(kFence).ok());
  EXPECT_EQ(p_.committed_generation(), kGeneration);
  EXPECT_EQ(p_.phase(), Phase::kCommitted);
  Both([&](int r) { return p_.RankReleased(r, kGeneration); });
  EXPECT_EQ(p_.phase(), Phase::kReleased);
  EXPECT_THAT(Orders(), ElementsAre(Kind::kPrepare, Kind::kArm, Kind::kGo,
                                    Kind::kCommit));
}

// What each command answers in each phase, when its fence fits.
TEST_F(ParticipantTest, CommandsAreObeyedOnlyInTheirPhases) {
  using Command = std::function<absl::Status(Participant&)>;
  const Command prepare = [&](Participant& p) {
    return p.Prepare(kEarly, Terms("t", kGeneration, 3, true), now_);
  };
  const Command arm = [](Participant& p) { return p.Arm(kFence, kStep); };
  const Command go = [&](Participant& p) { return p.Go(kFence, now_); };
  const Command cancel = [](Participant& p) { return p.Cancel(kFence); };
  const Command abort = [](Participant& p) { return p.Abort(kEarly, "x"); };
  const Command commit = [](Participant& p) { return p.Commit(kFence); };
  struct Row {
    Phase phase;
    std::string allowed;  // of "parogc": prepare arm abort go cancel commit
  };
  const std::vector<Row> rows = {
      {Phase::kPreparing, "pb"},   {Phase::kPrepared, "pabx"},
      {Phase::kArmed, "pabgx"},    {Phase::kTransferring, "pabg"},
      {Phase::kVerified, "pabgc"}, {Phase::kCommitted, "pagc"},
      {Phase::kReleased, "pagc"},  {Phase::kFailed, "pb"},
      {Phase::kAborted, "b"},
  };
  const std::vector<std::pair<char, Command>> commands = {
      {'p', prepare}, {'a', arm},    {'b', abort},
      {'g', go},      {'x', cancel}, {'c', commit}};
  for (const Row& row : rows) {
    for (const auto& [letter, command] : commands) {
      Participant fresh = p_;
      std::swap(fresh, p_);
      Reach(row.phase);
      const std::string before = p_.DebugString();
      const absl::Status status = command(p_);
      const bool allowed = row.allowed.find(letter) != std::string::npos;
      EXPECT_EQ(status.ok(), allowed)
          << PhaseName(row.phase) << " " << letter << ": " << status;
      if (!allowed) {
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
        EXPECT_EQ(p_.DebugString(), before);
        EXPECT_THAT(p_.TakeOrders(), IsEmpty());
      } else {  // and once more changes nothing
        p_.TakeOrders();
        const std::string after = p_.DebugString();
        EXPECT_TRUE(command(p_).ok()) << PhaseName(row.phase) << " " << letter;
        EXPECT_EQ(p_.DebugString(), after);
        EXPECT_THAT(p_.TakeOrders(), IsEmpty());
      }
      p_ = fresh;
    }
  }
}

TEST_F(ParticipantTest, ADeposedOperatorIsNotObeyed) {
  Reach(Phase::kArmed);
  ASSERT_TRUE(p_.Greet({kTerm + 2, 0, ""}).ok());
  const Fence deposed{kTerm + 1, kGeneration, "d1"};
  for (const absl::Status& status :
       {p_.Greet(deposed), p_.Arm(deposed, kStep), p_.Go(deposed, now_),
        p_.Cancel(deposed), p_.Commit(deposed), p_.Abort(deposed, "x"),
        p_.Prepare(deposed, Terms("t", kGeneration, 3, true), now_)}) {
    EXPECT_EQ(status, absl::PermissionDeniedError(
                          "deposed: this command has term 4, but term 5 was "
                          "seen"));
  }
  EXPECT_EQ(p_.phase(), Phase::kArmed);
}

TEST_F(ParticipantTest, AHigherTermIsRememberedEvenIfTheCommandIsRefused) {
  Reach(Phase::kPrepared);
  EXPECT_FALSE(p_.Commit({9, kGeneration, "d1"}).ok());
  EXPECT_EQ(p_.term(), 9);
}

TEST_F(ParticipantTest, AnotherGenerationOrPlanIsRefusedByName) {
  Reach(Phase::kArmed);
  EXPECT_EQ(p_.Go({kTerm, 5, "d1"}, now_),
            absl::FailedPreconditionError(
                "other generation: this command is for 5, the transition here "
                "is to 4"));
  EXPECT_EQ(p_.Go({kTerm, kGeneration, "d2"}, now_),
            absl::FailedPreconditionError(
                "other plan: this command has digest 'd2', the ranks here "
                "have 'd1'"));
  EXPECT_EQ(Participant(1).Go(kFence, now_).message(),
            "other generation: this command is for 4, no transition runs");
}

TEST_F(ParticipantTest, AGenerationThatIsOverNeverStarts) {
  ASSERT_TRUE(p_.Abort(kEarly, "").ok());  // before Prepare came
  EXPECT_EQ(p_.phase(), Phase::kAborted);
  EXPECT_FALSE(p_.Prepare(kEarly, Terms("t", kGeneration, 3, true), now_).ok());
  EXPECT_FALSE(p_.Prepare({kTerm, 2, ""}, Terms("t", 2, 1, true), now_).ok());
  EXPECT_THAT(Orders(), IsEmpty());
  EXPECT_TRUE(p_.Prepare({kTerm, 5, ""}, Terms("u", 5, 3, true), now_).ok());
}

TEST_F(ParticipantTest, AnotherAttemptWaitsForTheLastToBeOver) {
  Reach(Phase::kPrepared);
  const absl::Status status =
      p_.Prepare({kTerm, 5, ""}, Terms("u", 5, 3, true), now_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("to generation 4 is Prepared"));
  EXPECT_FALSE(p_.Abort({kTerm, 5, ""}, "x").ok());
  EXPECT_EQ(p_.phase(), Phase::kPrepared);
}

TEST_F(ParticipantTest, PrepareChecksWhatTheAgentRuns) {
  EXPECT_THAT(
      p_.Prepare(kEarly, Terms("t", kGeneration, 2, true), now_).message(),
      HasSubstr("runs generation 3"));
  EXPECT_THAT(
      p_.Prepare(kEarly, Terms("t", kGeneration, 3, false), now_).message(),
      HasSubstr("but it is to join"));
  TransitionTerms neither = Terms("t", kGeneration, 3, true);
  neither.in_source = neither.in_target = false;
  EXPECT_FALSE(p_.Prepare(kEarly, neither, now_).ok());
  p_.RankExited(1, "was killed by signal 9");
  EXPECT_THAT(
      p_.Prepare(kEarly, Terms("t", kGeneration, 3, true), now_).message(),
      HasSubstr("local rank 1 has exited"));
}

TEST_F(ParticipantTest, OneRefusalDisarmsAll) {
  Prepare();
  p_.TakeOrders();
  ASSERT_TRUE(p_.Arm(kFence, kStep).ok());
  EXPECT_EQ(p_.arm(), Participant::ArmState::kPending);
  ASSERT_TRUE(p_.RankArmed(0, kGeneration, kStep, true, 11).ok());
  ASSERT_TRUE(p_.RankArmed(1, kGeneration, kStep, false, 12).ok());
  EXPECT_EQ(p_.arm(), Participant::ArmState::kRefused);
  EXPECT_EQ(p_.arm_refusal(),
            "local rank 1 is past step 12: it has completed 12");
  EXPECT_EQ(p_.phase(), Phase::kPrepared);
  EXPECT_THAT(Orders(), ElementsAre(Kind::kArm, Kind::kCancel));
  EXPECT_FALSE(p_.Go(kFence, now_).ok());
}

TEST_F(ParticipantTest, AnAnswerToAnArmThatWasTakenBackDoesNotCount) {
  Prepare();
  ASSERT_TRUE(p_.Arm(kFence, kStep).ok());
  ASSERT_TRUE(p_.RankArmed(0, kGeneration, kStep, true, 11).ok());
  ASSERT_TRUE(p_.Cancel(kFence).ok());
  ASSERT_TRUE(p_.Arm(kFence, kStep).ok());  // rank 1 owes two answers now
  ASSERT_TRUE(p_.RankArmed(0, kGeneration, kStep, true, 11).ok());
  ASSERT_TRUE(p_.RankArmed(1, kGeneration, kStep, true, 11).ok());
  EXPECT_EQ(p_.arm(), Participant::ArmState::kPending);
  ASSERT_TRUE(p_.RankArmed(1, kGeneration, kStep, false, 12).ok());
  EXPECT_EQ(p_.arm(), Participant::ArmState::kRefused);
}

TEST_F(ParticipantTest, AnArmThatIsNotAnsweredIsTakenBack) {
  Prepare();
  ASSERT_TRUE(p_.Arm(kFence, kStep).ok());
  p_.GiveUpArm("no answer in 5 s");
  EXPECT_EQ(p_.arm(), Participant::ArmState::kRefused);
  EXPECT_EQ(p_.phase(), Phase::kPrepared);
  Both([&](int r) { return p_.RankArmed(r, kGeneration, kStep, true, 11); });
  EXPECT_EQ(p_.phase(), Phase::kPrepared);
  Arm();
  EXPECT_EQ(p_.phase(), Phase::kArmed);
}

TEST_F(ParticipantTest, CancelKeepsThePreparation) {
  Reach(Phase::kArmed);
  ASSERT_TRUE(p_.Cancel(kFence).ok());
  EXPECT_THAT(Orders(), ElementsAre(Kind::kCancel));
  // A stop that crossed the Cancel is no error and no stop.
  EXPECT_TRUE(p_.RankStopped(0, kGeneration, kStep, now_).ok());
  EXPECT_EQ(p_.phase(), Phase::kPrepared);
  Arm();
  Verify();
  EXPECT_EQ(p_.phase(), Phase::kVerified);
}

TEST_F(ParticipantTest, FailsAloneBeforeVerifiedAndThenOnlyWaitsForAbort) {
  for (Phase phase : {Phase::kPreparing, Phase::kPrepared, Phase::kArmed,
                      Phase::kTransferring}) {
    Participant fresh = p_;
    Reach(phase);
    p_.RankExited(1, "was killed by signal 9");
    EXPECT_EQ(p_.phase(), Phase::kFailed);
    EXPECT_EQ(p_.failure(), "local rank 1 was killed by signal 9");
    EXPECT_THAT(Orders(), ElementsAre(Kind::kAbort));
    EXPECT_TRUE(p_.RankVerified(0, kGeneration).ok());  // crossed the abort
    EXPECT_EQ(p_.phase(), Phase::kFailed);
    ASSERT_TRUE(p_.Abort(kEarly, "seen").ok());
    EXPECT_EQ(p_.phase(), Phase::kAborted);
    EXPECT_EQ(p_.committed_generation(), 3);
    EXPECT_THAT(Orders(), IsEmpty());
    p_ = fresh;
  }
}

TEST_F(ParticipantTest, InDoubtDecidesNothing) {
  Reach(Phase::kVerified);
  EXPECT_EQ(p_.next_deadline(), std::nullopt);
  p_.Tick(now_ + std::chrono::hours(1000));
  EXPECT_EQ(p_.phase(), Phase::kVerified);
  EXPECT_EQ(p_.RankFailed(0, kGeneration, "late").code(),
            absl::StatusCode::kInvalidArgument);
  p_.RankExited(0, "was killed by signal 9");
  EXPECT_EQ(p_.phase(), Phase::kVerified);
  EXPECT_EQ(p_.failure(), "local rank 0 was killed by signal 9");
  EXPECT_THAT(Orders(), IsEmpty());
  ASSERT_TRUE(p_.Abort(kEarly, "operator says so").ok());
  EXPECT_THAT(Orders(), ElementsAre(Kind::kAbort));
}

TEST_F(ParticipantTest, DeadlinesHoldBeforeVerified) {
  ASSERT_TRUE(p_.Prepare(kEarly, Terms("t", kGeneration, 3, true), now_).ok());
  EXPECT_EQ(p_.next_deadline(), now_ + milliseconds(1000));
  Participant late = p_;
  late.Tick(now_ + milliseconds(999));
  EXPECT_EQ(late.phase(), Phase::kPreparing);
  late.Tick(now_ + milliseconds(1000));
  EXPECT_EQ(late.failure(), "not prepared within 1000 ms");

  Both([&](int r) { return p_.RankPrepared(r, kGeneration, "d1"); });
  EXPECT_EQ(p_.next_deadline(), std::nullopt);
  Arm();
  ASSERT_TRUE(p_.Go(kFence, now_).ok());
  ASSERT_TRUE(p_.RankStopped(0, kGeneration, kStep, now_).ok());
  EXPECT_EQ(p_.next_deadline(), std::nullopt);  // a step may take long
  ASSERT_TRUE(p_.RankStopped(1, kGeneration, kStep, now_).ok());
  p_.Tick(now_ + milliseconds(500));
  EXPECT_EQ(p_.failure(),
            "not verified within 500 ms after all local ranks had stopped");
}

TEST_F(ParticipantTest, LocalPlansMustAgree) {
  Reach(Phase::kPreparing);
  ASSERT_TRUE(p_.RankPrepared(0, kGeneration, "d1").ok());
  ASSERT_TRUE(p_.RankPrepared(1, kGeneration, "d2").ok());
  EXPECT_EQ(p_.phase(), Phase::kFailed);
  EXPECT_EQ(p_.failure(),
            "local rank 1 has another plan than local rank 0; they differ in: "
            "digests d2 and d1");
}

TEST_F(ParticipantTest, APlanThatDiffersIsFoundBeforeAnyRankIsPrepared) {
  Reach(Phase::kPreparing);
  ASSERT_TRUE(p_.RankPlanned(1, kGeneration, "a1/to-11/senders-7").ok());
  EXPECT_EQ(p_.phase(), Phase::kPreparing);
  ASSERT_TRUE(p_.RankPlanned(0, kGeneration, "b2/to-22/senders-7").ok());
  EXPECT_EQ(p_.phase(), Phase::kFailed);
  EXPECT_EQ(p_.failure(),
            "local rank 0 has another plan than local rank 1; they differ in: "
            "target layout");
  // What crossed it is dropped.
  EXPECT_TRUE(p_.RankPlanned(1, kGeneration, "c3").ok());
}

TEST_F(ParticipantTest, ARankKeepsToThePlanThatItTold) {
  Reach(Phase::kPreparing);
  ASSERT_TRUE(p_.RankPlanned(0, kGeneration, "d1").ok());
  ASSERT_TRUE(p_.RankPrepared(0, kGeneration, "d1").ok());
  EXPECT_FALSE(p_.RankPlanned(0, kGeneration, "d1").ok());
  EXPECT_FALSE(p_.RankPlanned(1, kGeneration, "").ok());
  ASSERT_TRUE(p_.RankPlanned(1, kGeneration, "d1").ok());
  ASSERT_TRUE(p_.RankPrepared(1, kGeneration, "d1").ok());
  EXPECT_EQ(p_.phase(), Phase::kPrepared);
}

TEST_F(ParticipantTest, AFinishedRankWillNotStop) {
  Participant fresh = p_;
  Reach(Phase::kArmed);
  p_.RankFinished(0);
  EXPECT_EQ(p_.failure(), "local rank 0 has finished its data");
  p_ = fresh;
  p_.RankFinished(0);
  EXPECT_FALSE(p_.Prepare(kEarly, Terms("t", kGeneration, 3, true), now_).ok());
}

TEST_F(ParticipantTest, ARankThatEndsAfterCommitIsReleased) {
  Reach(Phase::kCommitted);
  p_.RankFinished(0);
  p_.RankExited(1, "exited with 86");
  EXPECT_EQ(p_.phase(), Phase::kReleased);
}

TEST_F(ParticipantTest, AStopThatCrossesACancelIsNoneOfTheNextArm) {
  Reach(Phase::kArmed);
  ASSERT_TRUE(p_.Cancel(kFence).ok());
  ASSERT_TRUE(p_.RankStopped(0, kGeneration, kStep, now_).ok());
  EXPECT_FALSE(p_.stopped(0));
  ASSERT_TRUE(p_.Arm(kFence, kStep + 2).ok());
  Both([&](int r) {
    return p_.RankArmed(r, kGeneration, kStep + 2, true, kStep);
  });
  ASSERT_TRUE(p_.RankStopped(1, kGeneration, kStep, now_).ok());
  EXPECT_FALSE(p_.stopped(1));
  ASSERT_TRUE(p_.RankStopped(1, kGeneration, kStep + 2, now_).ok());
  EXPECT_TRUE(p_.stopped(1));
  EXPECT_FALSE(p_.RankStopped(0, kGeneration, kStep + 3, now_).ok());
}

TEST_F(ParticipantTest, NonsenseIsTold) {
  Reach(Phase::kPreparing);
  for (const absl::Status& status :
       {p_.RankVerified(0, kGeneration), p_.RankReleased(0, kGeneration),
        p_.RankArmed(0, kGeneration, kStep, true, 1), p_.RankVerified(0, 9),
        p_.RankStopped(0, kGeneration, kStep, now_),
        p_.RankPrepared(0, kGeneration, "")}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.message(), HasSubstr("local rank 0 said"));
  }
  ASSERT_TRUE(p_.RankPrepared(0, kGeneration, "d1").ok());
  EXPECT_FALSE(p_.RankPrepared(0, kGeneration, "d1").ok());
  EXPECT_EQ(p_.phase(), Phase::kPreparing);
}

TEST_F(ParticipantTest, ReportsOfAnOldGenerationAreDropped) {
  Reach(Phase::kPreparing);
  EXPECT_TRUE(p_.RankVerified(0, 3).ok());
  EXPECT_TRUE(p_.RankFailed(0, 3, "late").ok());
  EXPECT_EQ(p_.phase(), Phase::kPreparing);
}

}  // namespace
}  // namespace dynatrain::transition
