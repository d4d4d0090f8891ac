#include "transition/stage/order_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/stage/order_problem_testutil.h"

namespace dynatrain::transition {
namespace {

constexpr int64_t kNoFloor = std::numeric_limits<int64_t>::min();
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

OrderProblem RandomOf(int i, int num_tasks, std::mt19937_64& random) {
  return i % 2 == 0 ? RandomProblem(num_tasks, random)
                    : RandomExchange(num_tasks, random);
}

TEST(OrderSearchTest, FindsTheLeast) {
  std::mt19937_64 random = TestRandom(80);
  for (int i = 0; i < 600; ++i) {
    const OrderProblem problem =
        RandomOf(i, 1 + static_cast<int>(random() % 10), random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    const int64_t least = LeastExcess(problem, allowed);
    const OrderFound found = SearchOrders(problem, allowed, kNoFloor, kNoLimit);
    ASSERT_EQ(found.tasks.size(), problem.tasks.size());
    ASSERT_EQ(ExcessOf(problem, found.tasks, allowed), least) << "case " << i;
    ASSERT_EQ(found.reached_bytes, least);
    // With a floor: some order that is not above.
    const int64_t floor = least + static_cast<int64_t>(random() % 20) - 5;
    const OrderFound enough = SearchOrders(problem, allowed, floor, kNoLimit);
    ASSERT_LE(ExcessOf(problem, enough.tasks, allowed), std::max(floor, least));
  }
}

// Wherever it ends, no order is below where it came to.
TEST(OrderSearchTest, AnEndThatIsEarlyIsABound) {
  std::mt19937_64 random = TestRandom(79);
  int ended = 0;
  for (int i = 0; i < 400; ++i) {
    const OrderProblem problem =
        RandomOf(i, 4 + static_cast<int>(random() % 7), random);
    const std::vector<int64_t> allowed = RandomAllowed(problem, random);
    const OrderFound found = SearchOrders(problem, allowed, kNoFloor,
                                          static_cast<int64_t>(random() % 300));
    ASSERT_LE(found.reached_bytes, LeastExcess(problem, allowed));
    ended += found.tasks.empty();
  }
  EXPECT_GT(ended, 50);
}

}  // namespace
}  // namespace dynatrain::transition
