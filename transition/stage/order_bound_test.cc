#include "transition/stage/order_bound.h"

#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/stage/order_problem_testutil.h"

namespace dynatrain::transition {
namespace {

// Rank 0 gives all of a before it gets anything; rank 1 gets a first or gives b
// first, to rank 0, which has a still.
TEST(OrderBoundTest, WhoeverIsFirst) {
  const OrderProblem swap = {
      .resident = {10, 4},
      .tasks = {{.makes = {{1, 10}}}, {.makes = {{0, 4}}}},
      .releases = {{{0, 10}, {0}}, {{1, 4}, {1}}}};
  EXPECT_EQ(OrderBound(swap, {10, 10}), 4);
  EXPECT_EQ(OrderBound(swap, {14, 10}), 0);
}

// Ten buffers of a byte go into one of ten: it is there before any is freed.
TEST(OrderBoundTest, WhatIsMadeBeforeAnythingIsFreed) {
  OrderProblem problem = {.resident = {10}, .allocations = {{0, 10}}};
  for (int task = 0; task < 10; ++task) {
    problem.tasks.push_back({.touches = {0}});
    problem.releases.push_back({{0, 1}, {task}});
  }
  EXPECT_EQ(OrderBound(problem, {0}), 20);
}

// One of ten goes into ten buffers of a byte: all are there when it is freed.
TEST(OrderBoundTest, WhatIsThereWhenTheLastIsMade) {
  OrderProblem problem = {.resident = {10}, .releases = {{{0, 10}, {}}}};
  for (int task = 0; task < 10; ++task) {
    problem.allocations.push_back({0, 1});
    problem.tasks.push_back({.touches = {task}});
    problem.releases[0].tasks.push_back(task);
  }
  EXPECT_EQ(OrderBound(problem, {0}), 20);
}

// Jobs that nothing binds: the one that leaves least first, and so on.
TEST(OrderBoundTest, JobsOfOneRank) {
  const OrderProblem problem = {
      .resident = {12},
      .tasks = {{.makes = {{0, 6}}}, {.makes = {{0, 1}}}, {.makes = {{0, 3}}}},
      .releases = {{{0, 2}, {0}}, {{0, 4}, {1}}, {{0, 6}, {2}}}};
  // 12 + 1 - 4, + 3 - 6, + 6 - 2.
  EXPECT_EQ(OrderBound(problem, {0}), 13);
}

TEST(OrderBoundTest, NoOrderIsBelow) {
  std::mt19937_64 random = TestRandom(81);
  int64_t met = 0;
  constexpr int kCases = 600;
  for (int i = 0; i < kCases; ++i) {
    const int num_tasks = 1 + static_cast<int>(random() % 9);
    const OrderProblem problem = i % 2 == 0 ? RandomProblem(num_tasks, random)
                                            : RandomExchange(num_tasks, random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    const int64_t bound = OrderBound(problem, allowed);
    const int64_t least = LeastExcess(problem, allowed);
    ASSERT_LE(bound, least) << "case " << i;
    met += bound == least;
  }
  std::cout << met << " of " << kCases << " bounds are met\n";
  EXPECT_GT(met, kCases / 3);
}

}  // namespace
}  // namespace dynatrain::transition
