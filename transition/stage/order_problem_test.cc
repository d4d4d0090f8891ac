#include "transition/stage/order_problem.h"

#include <algorithm>
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

// Rank 0 has a (10 bytes) for rank 1, which has b (4 bytes) for rank 0.
TEST(OrderProblemTest, PeaksOfASwap) {
  const OrderProblem swap = {
      .resident = {10, 4},
      .tasks = {{.makes = {{1, 10}}}, {.makes = {{0, 4}}, .packs = {{1, 7}}}},
      .releases = {{{0, 10}, {0}}, {{1, 4}, {1}}}};
  // a first: rank 0 is at 10, 4 at the end; rank 1 has both, and packs b.
  EXPECT_THAT(PeaksOf(swap, {0, 1}), ElementsAre(10, 21));
  EXPECT_THAT(PeaksOf(swap, {1, 0}), ElementsAre(14, 11));
}

TEST(OrderProblemTest, AnAllocationIsMadeOnce) {
  const OrderProblem problem = {.resident = {8},
                                .tasks = {{.touches = {0}}, {.touches = {0}}},
                                .allocations = {{0, 6}},
                                .releases = {{{0, 3}, {0}}, {{0, 5}, {0, 1}}}};
  EXPECT_THAT(PeaksOf(problem, {0, 1}), ElementsAre(14));
  TaskReplay replay(problem);
  EXPECT_THAT(replay.EndsOf(1), ElementsAre());
  EXPECT_THAT(replay.Do(0), ElementsAre(0));
  EXPECT_EQ(replay.resident()[0], 11);
  EXPECT_THAT(replay.MakesOf(1), ElementsAre());
  EXPECT_THAT(replay.Do(1), ElementsAre(1));
  EXPECT_EQ(replay.resident()[0], 6);
}

// Steps, orders and sets say the same.
TEST(OrderProblemTest, TheLeastOfAllOrders) {
  std::mt19937_64 random = TestRandom(82);
  for (int i = 0; i < 200; ++i) {
    const int num_tasks = 1 + static_cast<int>(random() % 6);
    const OrderProblem problem = i % 2 == 0 ? RandomProblem(num_tasks, random)
                                            : RandomExchange(num_tasks, random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    std::vector<int> order(problem.tasks.size());
    std::iota(order.begin(), order.end(), 0);
    int64_t least = ExcessOf(problem, order, allowed);
    while (std::next_permutation(order.begin(), order.end())) {
      int64_t excess = LargestExcess(problem.resident, allowed);
      TaskReplay replay(problem);
      for (const int task : order) {
        excess = std::max(excess, replay.ExcessOf(task, allowed));
        replay.Do(task);
      }
      ASSERT_EQ(excess, ExcessOf(problem, order, allowed));
      least = std::min(least, excess);
    }
    ASSERT_EQ(least, LeastExcess(problem, allowed));
  }
}

}  // namespace
}  // namespace dynatrain::transition
