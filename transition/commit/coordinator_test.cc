#include "transition/commit/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Reach = MemberReport::Reach;

// The world of these tests: 1 leaves, 2 survives, 3 joins; generation 3 -> 4.
constexpr uint32_t kLeaver = 1, kSurvivor = 2, kJoiner = 3;
constexpr uint64_t kGeneration = 4, kTerm = 7;

class CoordinatorTest : public ::testing::Test {
 protected:
  CoordinatorTest() {
    view_.term = kTerm;
    view_.generation = kGeneration;
    view_.members = {{kLeaver, true, false},
                     {kSurvivor, true, true},
                     {kJoiner, false, true}};
    for (const CommitMember& member : view_.members) {
      view_.reports.push_back({.serial = member.serial,
                               .reach = Reach::kAnswering,
                               .term = kTerm,
                               .seen_step = member.in_source ? 10u : 0u});
    }
  }

  MemberReport& Report(uint32_t serial) { return view_.reports[serial - 1]; }

  void Set(uint32_t serial, Phase phase, uint64_t armed_step = 0) {
    Report(serial).generation = kGeneration;
    Report(serial).phase = phase;
    Report(serial).armed_step = armed_step;
    Report(serial).plan_digest = phase >= Phase::kPrepared ? "d1" : "";
  }

  void SetAll(Phase phase, uint64_t armed_step = 0) {
    for (uint32_t serial : {kLeaver, kSurvivor, kJoiner}) {
      Set(serial, phase, armed_step);
    }
  }

  void SetArmed(uint64_t step) {
    SetAll(Phase::kArmed, step);
    Set(kJoiner, Phase::kPrepared);
  }

  Decision Next(RecordPhase record) {
    view_.record = record;
    return Decide(view_);
  }

  TransitionView view_;
};

TEST_F(CoordinatorTest, NothingIsDoneWithoutATransition) {
  EXPECT_EQ(Next(RecordPhase::kNone).action, Action::kDone);
  EXPECT_EQ(Next(RecordPhase::kReleased).action, Action::kDone);
}

TEST_F(CoordinatorTest, GreetsWhoHasNotSeenItsTermBeforeAnythingElse) {
  SetAll(Phase::kVerified);
  Report(kJoiner).term = kTerm - 1;
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kGreet);
  EXPECT_THAT(next.serials, ElementsAre(kJoiner));
}

TEST_F(CoordinatorTest, StandsDownBeforeAHigherTerm) {
  SetAll(Phase::kVerified);
  Report(kJoiner).term = kTerm + 1;
  EXPECT_EQ(Next(RecordPhase::kDraining).action, Action::kStandDown);
}

TEST_F(CoordinatorTest, PreparesWhoIsUntoldAndWaitsForTheRest) {
  Set(kSurvivor, Phase::kPreparing);
  Decision next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kPrepare);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver, kJoiner));
  SetAll(Phase::kPrepared);
  Set(kJoiner, Phase::kPreparing);
  next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kWait);
  EXPECT_THAT(next.serials, ElementsAre(kJoiner));
}

TEST_F(CoordinatorTest, AReportOfAnOlderGenerationIsNoPreparation) {
  SetAll(Phase::kReleased);
  for (MemberReport& report : view_.reports) report.generation = 3;
  EXPECT_EQ(Next(RecordPhase::kPlanned).action, Action::kPrepare);
}

TEST_F(CoordinatorTest, DrainsOnlyPlansThatAgree) {
  SetAll(Phase::kPrepared);
  Report(kLeaver).sent_hash = 5;
  Report(kJoiner).received_hash = 5;
  EXPECT_EQ(Next(RecordPhase::kPlanned).action, Action::kWriteDraining);

  Report(kJoiner).received_hash = 6;
  Decision next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kWriteAborted);
  EXPECT_THAT(next.reason, HasSubstr("hash 5"));

  Report(kJoiner).plan_digest = "d2";
  next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kWriteAborted);
  EXPECT_EQ(next.reason,
            "serial 3 has another plan than serial 1; they differ in: digests "
            "d2 and d1");
}

TEST_F(CoordinatorTest, NamesWhoseInputIsAnotherAndInWhatWhileOthersPrepare) {
  SetAll(Phase::kPreparing);
  EXPECT_EQ(Next(RecordPhase::kPlanned).action, Action::kWait);
  Report(kJoiner).plan_digest = "a/tensors-1/to-1/senders-1";
  EXPECT_EQ(Next(RecordPhase::kPlanned).action, Action::kWait);
  Report(kSurvivor).plan_digest = Report(kJoiner).plan_digest;
  EXPECT_EQ(Next(RecordPhase::kPlanned).action, Action::kWait);
  // The first, but alone with it.
  Report(kLeaver).plan_digest = "b/tensors-1/to-2";
  const Decision next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kWriteAborted);
  EXPECT_EQ(next.reason,
            absl::StrCat("serial ", kLeaver, " has another plan than serial ",
                         kSurvivor,
                         "; they differ in: target layout, balance of "
                         "senders"));
}

TEST_F(CoordinatorTest, HashTotalsAreComparedModulo2To64) {
  SetAll(Phase::kPrepared);
  Report(kLeaver).sent_hash = ~uint64_t{0};
  Report(kSurvivor).sent_hash = 2;
  Report(kJoiner).received_hash = 1;
  EXPECT_EQ(Next(RecordPhase::kPlanned).action, Action::kWriteDraining);
}

TEST_F(CoordinatorTest, ArmsTheSourceTwoStepsAheadOfTheFastest) {
  SetAll(Phase::kPrepared);
  Report(kSurvivor).seen_step = 11;
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kArm);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver, kSurvivor));
  EXPECT_EQ(next.step, 13);
  EXPECT_EQ(next.plan_digest, "d1");
}

TEST_F(CoordinatorTest, ArmsTheOthersAtTheStepOfTheFirst) {
  SetArmed(12);
  Set(kSurvivor, Phase::kPrepared);
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kArm);
  EXPECT_THAT(next.serials, ElementsAre(kSurvivor));
  EXPECT_EQ(next.step, 12);
}

TEST_F(CoordinatorTest, CancelsWhenOneIsPastTheStepThenArmsAgain) {
  SetArmed(12);
  Set(kSurvivor, Phase::kPrepared);
  Report(kSurvivor).seen_step = 12;
  Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kCancel);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver));
  Set(kLeaver, Phase::kPrepared);
  next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kArm);
  EXPECT_EQ(next.step, 14);
}

TEST_F(CoordinatorTest, CancelsWhenTheArmedStepsDiffer) {
  SetArmed(12);
  Report(kSurvivor).armed_step = 14;
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kCancel);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver, kSurvivor));
}

TEST_F(CoordinatorTest, GoesWhenAllAreArmedWithoutAskingTheJoiners) {
  SetArmed(12);
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kGo);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver, kSurvivor, kJoiner));
}

TEST_F(CoordinatorTest, ArmsNobodyWhileOneIsSilent) {
  SetArmed(12);
  Report(kJoiner).reach = Reach::kSilent;
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kWait);
  EXPECT_THAT(next.serials, ElementsAre(kJoiner));
}

TEST_F(CoordinatorTest, TheFirstStartGoesWithoutArm) {
  view_.members = {{kSurvivor, false, true}, {kJoiner, false, true}};
  SetAll(Phase::kPrepared);
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kGo);
  EXPECT_THAT(next.serials, ElementsAre(kSurvivor, kJoiner));
}

TEST_F(CoordinatorTest, FinishesAGoThatReachedOnlySome) {
  SetArmed(12);
  Set(kSurvivor, Phase::kTransferring, 12);
  Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kGo);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver, kJoiner));

  Set(kLeaver, Phase::kPrepared);  // by a late Cancel
  next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kArm);
  EXPECT_EQ(next.step, 12);

  Report(kLeaver).seen_step = 12;
  EXPECT_EQ(Next(RecordPhase::kDraining).action, Action::kWriteAborted);
}

TEST_F(CoordinatorTest, CommitsOnlyWhenAllHaveVerified) {
  SetAll(Phase::kVerified);
  Set(kJoiner, Phase::kTransferring);
  Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kWait);
  EXPECT_THAT(next.serials, ElementsAre(kJoiner));
  Set(kJoiner, Phase::kVerified);
  EXPECT_EQ(Next(RecordPhase::kDraining).action, Action::kWriteCommitted);
  Report(kJoiner).reach = Reach::kSilent;
  EXPECT_EQ(Next(RecordPhase::kDraining).action, Action::kWait);
}

// Found by the model check: a late Cancel and a late Arm, then Go.
TEST_F(CoordinatorTest, NeverCommitsWhatStoppedAtTwoSteps) {
  SetAll(Phase::kVerified, 12);
  Set(kSurvivor, Phase::kVerified, 14);
  const Decision next = Next(RecordPhase::kDraining);
  EXPECT_EQ(next.action, Action::kWriteAborted);
  EXPECT_EQ(next.reason, "serial 1 stops at step 12, serial 2 at step 14");
}

TEST_F(CoordinatorTest, CommitsOverAWishToGiveUpAndALeaverThatIsGone) {
  SetAll(Phase::kVerified);
  view_.give_up = "the spec changed";
  Report(kLeaver).reach = Reach::kGone;
  EXPECT_EQ(Next(RecordPhase::kDraining).action, Action::kWriteCommitted);
  Report(kSurvivor).reach = Reach::kGone;
  EXPECT_EQ(Next(RecordPhase::kDraining).action, Action::kWriteAborted);
}

TEST_F(CoordinatorTest, AbortsWithTheReasonOfWhoFailed) {
  for (RecordPhase record : {RecordPhase::kPlanned, RecordPhase::kDraining}) {
    SetAll(Phase::kPrepared);
    Set(kSurvivor, Phase::kFailed);
    Report(kSurvivor).failure = "rank 1: plan: tensor w has another shape";
    const Decision next = Next(record);
    EXPECT_EQ(next.action, Action::kWriteAborted);
    EXPECT_EQ(next.reason,
              "serial 2: rank 1: plan: tensor w has another shape");
  }
}

TEST_F(CoordinatorTest, AbortsWhenAMemberIsGoneOrWantedElsewhere) {
  SetAll(Phase::kPrepared);
  view_.give_up = "the spec changed";
  view_.superseded = true;
  Decision next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kWriteSuperseded);
  EXPECT_EQ(next.reason, "the spec changed");
  view_.give_up.clear();
  view_.superseded = false;
  Report(kJoiner).reach = Reach::kGone;
  next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kWriteAborted);
  EXPECT_EQ(next.reason, "serial 3 is gone");
}

TEST_F(CoordinatorTest, TellsAnAbortToAllAlsoToThoseNeverPrepared) {
  Set(kLeaver, Phase::kVerified);
  Set(kSurvivor, Phase::kAborted);
  Decision next = Next(RecordPhase::kAborted);
  EXPECT_EQ(next.action, Action::kAbort);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver, kJoiner));
  EXPECT_THAT(next.plan_digest, IsEmpty());
  SetAll(Phase::kAborted);
  Report(kJoiner).reach = Reach::kSilent;
  EXPECT_EQ(Next(RecordPhase::kSuperseded).action, Action::kWait);
  Report(kJoiner).reach = Reach::kGone;
  EXPECT_EQ(Next(RecordPhase::kAborted).action, Action::kDone);
}

TEST_F(CoordinatorTest, RollsACommitForwardUntilAllAreReleasedOrGone) {
  SetAll(Phase::kVerified);
  Set(kSurvivor, Phase::kCommitted);
  Decision next = Next(RecordPhase::kCommitted);
  EXPECT_EQ(next.action, Action::kCommit);
  EXPECT_THAT(next.serials, ElementsAre(kLeaver, kJoiner));
  EXPECT_EQ(next.plan_digest, "d1");
  SetAll(Phase::kReleased);
  Set(kSurvivor, Phase::kCommitted);
  next = Next(RecordPhase::kCommitted);
  EXPECT_EQ(next.action, Action::kWait);
  EXPECT_THAT(next.serials, ElementsAre(kSurvivor));
  Set(kSurvivor, Phase::kReleased);
  Report(kLeaver).reach = Reach::kGone;
  EXPECT_EQ(Next(RecordPhase::kCommitted).action, Action::kWriteReleased);
}

TEST_F(CoordinatorTest, AMemberWithoutAReportIsSilent) {
  SetAll(Phase::kPrepared);
  view_.reports.pop_back();
  const Decision next = Next(RecordPhase::kPlanned);
  EXPECT_EQ(next.action, Action::kWait);
  EXPECT_THAT(next.serials, ElementsAre(kJoiner));
}

}  // namespace
}  // namespace dynatrain::transition
