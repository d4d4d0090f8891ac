#include "transition/stage/task_order.h"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/stage/order_problem_testutil.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;

OrderProblem RandomOf(int i, int num_tasks, std::mt19937_64& random) {
  return i % 2 == 0 ? RandomProblem(num_tasks, random)
                    : RandomExchange(num_tasks, random);
}

// Rank 0 has a (10 bytes) for rank 1, which has b (4 bytes) for rank 0.
OrderProblem Swap() {
  return {.resident = {10, 4},
          .tasks = {{.makes = {{1, 10}}}, {.makes = {{0, 4}}}},
          .releases = {{{0, 10}, {0}}, {{1, 4}, {1}}}};
}

TEST(TaskOrderTest, WhoIsNarrowGivesFirst) {
  const OrderProblem swap = Swap();
  const TaskOrder order = BestOrder(swap, {10, 10});
  EXPECT_EQ(order.excess_bytes, 4);
  EXPECT_TRUE(order.proved());
  EXPECT_THAT(BestOrder(swap, {14, 10}).tasks, ElementsAre(1, 0));
  EXPECT_EQ(BestOrder(swap, {14, 10}).excess_bytes, 0);
}

TEST(TaskOrderTest, NothingToDo) {
  const TaskOrder order = BestOrder({.resident = {7, 5}}, {4, 5});
  EXPECT_THAT(order.tasks, ElementsAre());
  EXPECT_EQ(order.excess_bytes, 3);
  EXPECT_TRUE(order.proved());
}

// Up to a dozen tasks it is the best of all orders, and known to be.
TEST(TaskOrderTest, IsTheBestOfAllOrders) {
  std::mt19937_64 random = TestRandom(83);
  for (int i = 0; i < 200; ++i) {
    const OrderProblem problem =
        RandomOf(i, 1 + static_cast<int>(random() % 12), random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    const int64_t least = LeastExcess(problem, allowed);
    const TaskOrder best = BestOrder(problem, allowed);
    ASSERT_EQ(best.excess_bytes, least);
    ASSERT_EQ(ExcessOf(problem, best.tasks, allowed), least);
    ASSERT_TRUE(best.proved());
  }
}

// A swap among tasks that do nothing, too many to be searched.
TEST(TaskOrderTest, BeyondTheSearchRoomDecidesAndProofsAreByBoundsAlone) {
  OrderProblem swap = Swap();
  swap.tasks.resize(kMaxSearchedTasks + 1);
  // As given, a goes first: 4 bytes too many.
  const TaskOrder wide = BestOrder(swap, {14, 10});
  EXPECT_EQ(wide.excess_bytes, 0);
  EXPECT_TRUE(wide.proved());
  // No order does with less than 4, but no bound shows it.
  const TaskOrder narrow = BestOrder(swap, {10, 10});
  EXPECT_EQ(narrow.excess_bytes, 4);
  EXPECT_EQ(narrow.bound_bytes, 0);
  swap.tasks.resize(kMaxSearchedTasks);
  EXPECT_TRUE(BestOrder(swap, {10, 10}).proved());
}

// Whatever the size: a permutation, its excess is told truly, never worse than
// the given order, never below the bound.
TEST(TaskOrderTest, BeyondWhatIsProvedItIsHonest) {
  std::mt19937_64 random = TestRandom(84);
  int proved = 0;
  constexpr int kCases = 20;
  for (int i = 0; i < kCases; ++i) {
    const OrderProblem problem =
        RandomOf(i, 20 + static_cast<int>(random() % 60), random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    std::vector<int> given(problem.tasks.size());
    std::iota(given.begin(), given.end(), 0);
    const TaskOrder best = BestOrder(problem, allowed);
    ASSERT_TRUE(std::is_permutation(best.tasks.begin(), best.tasks.end(),
                                    given.begin(), given.end()));
    ASSERT_EQ(ExcessOf(problem, best.tasks, allowed), best.excess_bytes);
    ASSERT_LE(best.excess_bytes, ExcessOf(problem, given, allowed));
    ASSERT_LE(best.bound_bytes, best.excess_bytes);
    proved += best.proved();
  }
  std::cout << proved << " of " << kCases << " proved\n";
  EXPECT_GT(proved, kCases / 2);
}

}  // namespace
}  // namespace dynatrain::transition
