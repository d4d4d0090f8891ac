#include "base/deadline.h"

#include <gtest/gtest.h>

namespace dynatrain {
namespace {

using std::chrono::milliseconds;

TEST(DeadlineTest, NeverNeitherPassesNorTimesOut) {
  EXPECT_FALSE(Deadline::Never().Passed());
  EXPECT_EQ(Deadline::Never().PollTimeoutMs(), -1);
}

TEST(DeadlineTest, OneInThePastHasPassedAndPollsAtOnce) {
  const Deadline past = Deadline::After(milliseconds(-5));
  EXPECT_TRUE(past.Passed());
  EXPECT_EQ(past.PollTimeoutMs(), 0);
}

TEST(DeadlineTest, TimeLeftIsRoundedUpAndCapped) {
  const int left = Deadline::After(milliseconds(60'000)).PollTimeoutMs();
  EXPECT_GT(left, 50'000);
  EXPECT_LE(left, 60'000);
  EXPECT_EQ(Deadline::After(std::chrono::hours(24 * 365)).PollTimeoutMs(),
            std::numeric_limits<int>::max());
}

TEST(DeadlineTest, OrdersByTime) {
  const Deadline soon = Deadline::After(milliseconds(1));
  const Deadline late = Deadline::At(soon.when() + milliseconds(1));
  EXPECT_LT(soon, late);
  EXPECT_LT(late, Deadline::Never());
}

}  // namespace
}  // namespace dynatrain
