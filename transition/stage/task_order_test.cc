#include "transition/stage/task_order.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;

// Rank 0 has a (10 bytes) for rank 1, which has b (4 bytes) for rank 0.
OrderProblem Swap() {
  return {.resident = {10, 4},
          .tasks = {{.makes = {{1, 10}}}, {.makes = {{0, 4}}}},
          .releases = {{{0, 10}, {0}}, {{1, 4}, {1}}}};
}

TEST(TaskOrderTest, WhoIsNarrowGivesFirst) {
  const OrderProblem swap = Swap();
  // a first: rank 0 is at 10, 4 at the end; rank 1 has both.
  EXPECT_THAT(PeaksOf(swap, {0, 1}), ElementsAre(10, 14));
  EXPECT_THAT(PeaksOf(swap, {1, 0}), ElementsAre(14, 10));
  const TaskOrder order = BestOrder(swap, {10, 10});
  EXPECT_EQ(order.excess_bytes, 4);
  EXPECT_TRUE(order.proved);
  EXPECT_THAT(BestOrder(swap, {14, 10}).tasks, ElementsAre(1, 0));
  EXPECT_EQ(BestOrder(swap, {14, 10}).excess_bytes, 0);
}

TEST(TaskOrderTest, AnAllocationIsMadeOnce) {
  const OrderProblem problem = {.resident = {8},
                                .tasks = {{.touches = {0}}, {.touches = {0}}},
                                .allocations = {{0, 6}},
                                .releases = {{{0, 3}, {0}}, {{0, 5}, {0, 1}}}};
  EXPECT_THAT(PeaksOf(problem, {0, 1}), ElementsAre(14));
  TaskReplay replay(problem);
  EXPECT_THAT(replay.Do(0), ElementsAre(0));
  EXPECT_EQ(replay.resident()[0], 11);
  EXPECT_THAT(replay.MakesOf(1), ElementsAre());
  EXPECT_THAT(replay.Do(1), ElementsAre(1));
  EXPECT_EQ(replay.resident()[0], 6);
}

OrderProblem RandomProblem(int num_tasks, std::mt19937_64& random) {
  const int ranks = 2 + static_cast<int>(random() % 4);
  const auto bytes = [&] { return 1 + static_cast<int64_t>(random() % 20); };
  OrderProblem problem;
  problem.resident.resize(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    problem.allocations.push_back({rank, bytes()});
  }
  for (int task = 0; task < num_tasks; ++task) {
    OrderTask it;
    for (int rank = 0; rank < ranks; ++rank) {
      if (random() % 3 == 0) it.makes.push_back({rank, bytes()});
    }
    if (random() % 2 == 0) {
      it.touches.push_back(static_cast<int>(random() % ranks));
    }
    problem.tasks.push_back(it);
    TaskRelease release = {{static_cast<int>(random() % ranks), bytes()},
                           {task}};
    if (task > 0 && random() % 4 == 0) {
      release.tasks.insert(release.tasks.begin(),
                           static_cast<int>(random() % task));
    }
    problem.resident[release.memory.rank] += release.memory.bytes;
    problem.releases.push_back(release);
  }
  return problem;
}

int64_t Excess(const OrderProblem& problem, const std::vector<int>& order,
               const std::vector<int64_t>& allowed) {
  const std::vector<int64_t> peaks = PeaksOf(problem, order);
  int64_t excess = peaks[0] - allowed[0];
  for (size_t rank = 1; rank < peaks.size(); ++rank) {
    excess = std::max(excess, peaks[rank] - allowed[rank]);
  }
  return excess;
}

std::vector<int64_t> RandomAllowed(const OrderProblem& problem,
                                   std::mt19937_64& random) {
  std::vector<int64_t> allowed;
  for (size_t rank = 0; rank < problem.resident.size(); ++rank) {
    allowed.push_back(static_cast<int64_t>(random() % 50));
  }
  return allowed;
}

// All orders of up to six tasks, one by one.
TEST(TaskOrderTest, IsTheBestOfAllOrders) {
  std::mt19937_64 random = TestRandom(83);
  for (int i = 0; i < 300; ++i) {
    const OrderProblem problem =
        RandomProblem(1 + static_cast<int>(random() % 6), random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    std::vector<int> order(problem.tasks.size());
    std::iota(order.begin(), order.end(), 0);
    int64_t least = Excess(problem, order, allowed);
    while (std::next_permutation(order.begin(), order.end())) {
      least = std::min(least, Excess(problem, order, allowed));
    }
    const TaskOrder best = BestOrder(problem, allowed);
    ASSERT_EQ(best.excess_bytes, least);
    ASSERT_EQ(Excess(problem, best.tasks, allowed), least);
    ASSERT_TRUE(best.proved);
  }
}

// A swap among tasks that do nothing, too many to try all orders.
TEST(TaskOrderTest, BeyondTheExactRoomDecidesAndProofsAreByBoundsAlone) {
  OrderProblem swap = Swap();
  swap.tasks.resize(kMaxExactTasks + 1);
  // As given, a goes first: 4 bytes too many.
  const TaskOrder wide = BestOrder(swap, {14, 10});
  EXPECT_EQ(wide.excess_bytes, 0);
  EXPECT_TRUE(wide.proved);
  // No order does with less than 4, but neither begin nor end show it.
  const TaskOrder narrow = BestOrder(swap, {10, 10});
  EXPECT_EQ(narrow.excess_bytes, 4);
  EXPECT_FALSE(narrow.proved);
}

// Beyond exact sizes: a permutation, its excess is told truly, never worse than
// the given order.
TEST(TaskOrderTest, BeyondTheExactItIsAnHonestOrder) {
  std::mt19937_64 random = TestRandom(84);
  for (int i = 0; i < 100; ++i) {
    const OrderProblem problem = RandomProblem(
        kMaxExactTasks + 1 + static_cast<int>(random() % 30), random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    std::vector<int> given(problem.tasks.size());
    std::iota(given.begin(), given.end(), 0);
    const TaskOrder best = BestOrder(problem, allowed);
    ASSERT_TRUE(std::is_permutation(best.tasks.begin(), best.tasks.end(),
                                    given.begin(), given.end()));
    ASSERT_EQ(Excess(problem, best.tasks, allowed), best.excess_bytes);
    ASSERT_LE(best.excess_bytes, Excess(problem, given, allowed));
  }
}

}  // namespace
}  // namespace dynatrain::transition
