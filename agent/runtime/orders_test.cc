#include "agent/runtime/orders.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::runtime {
namespace {

using std::chrono::milliseconds;
using Word = Orders::Word;

// The world of generation 4 trains; generation 5 is prepared.
constexpr uint64_t kOld = 4, kNew = 5;

Deadline Soon() { return Deadline::After(milliseconds(20'000)); }
Deadline AtOnce() { return Deadline::After(milliseconds(0)); }

class OrdersTest : public testing::Test {
 protected:
  OrdersTest() { orders_.Prepare(kNew, kOld); }

  void StopAt(uint64_t step) {
    ASSERT_TRUE(orders_.Arm(kNew, step).ok);
    orders_.ArmAnswered(kNew);
    ASSERT_EQ(orders_.Boundary(kOld, step), BoundaryAction::kStop);
  }

  Orders orders_;
};

TEST_F(OrdersTest, StopsAtTheArmedStepAndNoOther) {
  EXPECT_EQ(orders_.Boundary(kOld, 10), BoundaryAction::kContinue);
  const Orders::ArmAnswer answer = orders_.Arm(kNew, 12);
  EXPECT_TRUE(answer.ok);
  EXPECT_EQ(answer.seen, 10);
  EXPECT_EQ(orders_.Boundary(kOld, 11), BoundaryAction::kContinue);
  EXPECT_EQ(orders_.Boundary(kOld, 12), BoundaryAction::kStop);
}

TEST_F(OrdersTest, RefusesAStepThatIsOver) {
  orders_.Boundary(kOld, 10);
  for (uint64_t step : {0, 9, 10}) {
    const Orders::ArmAnswer answer = orders_.Arm(kNew, step);
    EXPECT_FALSE(answer.ok);
    EXPECT_EQ(answer.seen, 10);
  }
  EXPECT_TRUE(orders_.Arm(kNew, 11).ok);
}

TEST_F(OrdersTest, TheSameArmAgainIsAnsweredAlikeEvenOnceStopped) {
  StopAt(12);
  EXPECT_TRUE(orders_.Arm(kNew, 12).ok);
}

TEST_F(OrdersTest, RefusesToArmWhatItDoesNotPrepareOrIsNoSourceOf) {
  EXPECT_FALSE(orders_.Arm(99, 12).ok);
  orders_.Prepare(6, std::nullopt);
  EXPECT_FALSE(orders_.Arm(6, 12).ok);
}

// The race that the lock is for: at whatever moment the arm comes, it is obeyed
// exactly if it was acked.
TEST_F(OrdersTest, AnArmIsObeyedExactlyIfItWasAcked) {
  for (int round = 0; round < 200; ++round) {
    Orders orders;
    orders.Prepare(kNew, kOld);
    std::atomic<bool> acked = false;
    std::atomic<uint64_t> step = 0;
    std::thread arms([&] {
      while (step.load() < static_cast<uint64_t>(round % 7)) {
      }
      acked = orders.Arm(kNew, 5).ok;
    });
    bool stopped = false;
    while (!stopped && step.load() < 10) {
      stopped =
          orders.Boundary(kOld, step.fetch_add(1) + 1) == BoundaryAction::kStop;
    }
    arms.join();
    EXPECT_EQ(stopped, acked.load()) << round;
  }
}

TEST_F(OrdersTest, GoBeforeOrAfterTheStopIsHeard) {
  orders_.Go(kNew);
  StopAt(12);
  EXPECT_EQ(orders_.BeginTransfer(kNew).value(), 12);
  EXPECT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kGo);
}

TEST_F(OrdersTest, ATransferNeedsTheStop) {
  EXPECT_EQ(orders_.BeginTransfer(kNew).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(orders_.BeginTransfer(99).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(OrdersTest, AJoinerNeedsNoStop) {
  orders_.Prepare(6, std::nullopt);
  EXPECT_EQ(orders_.BeginTransfer(6).value(), std::nullopt);
}

TEST_F(OrdersTest, StoppedIsSaidOnlyAfterTheAgentHasTheAnswerToArm) {
  ASSERT_TRUE(orders_.Arm(kNew, 12).ok);
  ASSERT_EQ(orders_.Boundary(kOld, 12), BoundaryAction::kStop);
  std::atomic<bool> answered = false;
  std::thread trainer([&] {
    EXPECT_TRUE(orders_.BeginTransfer(kNew).ok());
    EXPECT_TRUE(answered.load());
  });
  answered = true;
  orders_.ArmAnswered(kNew);
  trainer.join();
}

TEST_F(OrdersTest, WaitingForGoEndsAtItsDeadlineAndSaysWhatFor) {
  StopAt(12);
  const absl::Status status = orders_.WaitForGo(kNew, AtOnce()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("go of generation 5"));
}

TEST_F(OrdersTest, CancelTakesTheStopBackOnceAndArmingAgainWorks) {
  StopAt(12);
  orders_.Cancel(kNew);
  EXPECT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kCancel);
  EXPECT_FALSE(orders_.cancellation(kNew)->cancelled());
  EXPECT_EQ(orders_.Boundary(kOld, 13), BoundaryAction::kContinue);
  StopAt(15);
  orders_.Go(kNew);
  EXPECT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kGo);
}

// Another rank refused the step: cancelled and armed again while this one's
// training thread binds its tensors, between boundary and transfer.
TEST_F(OrdersTest, ACancelIsHeardThoughArmedAgainMeanwhile) {
  StopAt(12);
  orders_.Cancel(kNew);
  ASSERT_TRUE(orders_.Arm(kNew, 15).ok);
  orders_.ArmAnswered(kNew);
  orders_.Go(kNew);
  ASSERT_EQ(orders_.BeginTransfer(kNew).value(), 12);
  EXPECT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kCancel);
  EXPECT_EQ(orders_.Boundary(kOld, 13), BoundaryAction::kContinue);
  EXPECT_EQ(orders_.Boundary(kOld, 15), BoundaryAction::kStop);
  ASSERT_EQ(orders_.BeginTransfer(kNew).value(), 15);
  EXPECT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kGo);
}

TEST_F(OrdersTest, ACancelThatNoTransferHeardIsNotOneOfTheNextStop) {
  StopAt(12);
  orders_.Cancel(kNew);
  StopAt(15);
  orders_.Go(kNew);
  EXPECT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kGo);
}

TEST_F(OrdersTest, CancelBeforeTheStopJustDisarms) {
  ASSERT_TRUE(orders_.Arm(kNew, 12).ok);
  orders_.Cancel(kNew);
  EXPECT_EQ(orders_.Boundary(kOld, 12), BoundaryAction::kContinue);
}

TEST_F(OrdersTest, CancelLeavesAJoinerWaiting) {
  orders_.Prepare(6, std::nullopt);
  orders_.Go(6);
  orders_.Cancel(6);
  EXPECT_EQ(orders_.WaitForGo(6, AtOnce()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(OrdersTest, CancelWhileMovingEndsTheTransfer) {
  StopAt(12);
  orders_.Go(kNew);
  ASSERT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kGo);
  orders_.Cancel(kNew);
  EXPECT_TRUE(orders_.cancellation(kNew)->cancelled());
  EXPECT_FALSE(orders_.Verified(kNew));
  EXPECT_EQ(orders_.TakenBack(kNew), Word::kCancel);
  EXPECT_EQ(orders_.TakenBack(kNew), std::nullopt);
}

TEST_F(OrdersTest, InDoubtHearsNoCancelOnlyCommitOrAbort) {
  StopAt(12);
  orders_.Go(kNew);
  ASSERT_EQ(orders_.WaitForGo(kNew, Soon()).value(), Word::kGo);
  EXPECT_TRUE(orders_.Verified(kNew));
  orders_.Cancel(kNew);
  EXPECT_EQ(orders_.WaitForOutcome(kNew, AtOnce()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  orders_.Commit(kNew);
  EXPECT_EQ(orders_.WaitForOutcome(kNew, Soon()).value(), Word::kCommit);
}

TEST_F(OrdersTest, AbortWinsBeforeCommitAndCommitBeforeAbort) {
  orders_.Abort(kNew);
  orders_.Commit(kNew);
  EXPECT_EQ(orders_.WaitForOutcome(kNew, Soon()).value(), Word::kAbort);
  orders_.Prepare(6, kOld);
  orders_.Commit(6);
  orders_.Abort(6);
  EXPECT_EQ(orders_.WaitForOutcome(6, Soon()).value(), Word::kCommit);
}

TEST_F(OrdersTest, TheNewWorldKnowsTheStepItBeganWith) {
  StopAt(12);
  orders_.Go(kNew);
  ASSERT_TRUE(orders_.WaitForGo(kNew, Soon()).ok());
  orders_.Commit(kNew);
  ASSERT_TRUE(orders_.WaitForOutcome(kNew, Soon()).ok());
  orders_.Drop(kNew);
  orders_.Prepare(6, kNew);
  EXPECT_FALSE(orders_.Arm(6, 12).ok);
  EXPECT_TRUE(orders_.Arm(6, 13).ok);
}

TEST_F(OrdersTest, DismissIsHeardAtTheBoundaryAndEndsAllWaits) {
  const auto cancellation = orders_.cancellation(kNew);
  std::thread waiter([&] {
    EXPECT_EQ(orders_.WaitForOutcome(kNew, Deadline::Never()).status().code(),
              absl::StatusCode::kCancelled);
  });
  orders_.Dismiss("the job is deleted");
  waiter.join();
  EXPECT_EQ(orders_.Boundary(kOld, 1), BoundaryAction::kDismiss);
  EXPECT_TRUE(cancellation->cancelled());
}

TEST_F(OrdersTest, LosingTheAgentEndsEvenTheWaitInDoubt) {
  StopAt(12);
  orders_.Go(kNew);
  ASSERT_TRUE(orders_.WaitForGo(kNew, Soon()).ok());
  ASSERT_TRUE(orders_.Verified(kNew));
  std::thread waiter([&] {
    EXPECT_EQ(orders_.WaitForOutcome(kNew, Deadline::Never()).status().code(),
              absl::StatusCode::kUnavailable);
  });
  orders_.Lose("it closed the connection");
  waiter.join();
  EXPECT_EQ(orders_.Alive().code(), absl::StatusCode::kUnavailable);
}

TEST_F(OrdersTest, OrdersForWhatIsNotPreparedDoNothing) {
  orders_.Go(99);
  orders_.Cancel(99);
  orders_.Abort(99);
  orders_.Commit(99);
  EXPECT_EQ(orders_.cancellation(99), nullptr);
}

}  // namespace
}  // namespace dynatrain::runtime
