#include "transition/plan/assignment.h"

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
using ::testing::IsEmpty;

std::vector<Worth> OfBytes(const std::vector<int64_t>& bytes) {
  std::vector<Worth> worth;
  for (int64_t b : bytes) worth.push_back({.bytes = b});
  return worth;
}

Worth BestByTrying(int n, const std::vector<Worth>& worth) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Worth best;
  do {
    best = std::max(best, SumOf(n, worth, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

bool IsPermutation(std::vector<int> order) {
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int>(i)) return false;
  }
  return true;
}

TEST(Assignment, FindsWhatGreedyMisses) {
  const std::vector<Worth> worth = OfBytes({10, 9,  //
                                            9, 0});
  EXPECT_THAT(GreedyAssignment(2, worth), ElementsAre(0, 1));
  EXPECT_THAT(BestAssignment(2, worth), ElementsAre(1, 0));
  EXPECT_EQ(AssignmentBound(2, worth), 18);
}

TEST(Assignment, GreedyTakesTheFirstOfEqualPairs) {
  EXPECT_THAT(GreedyAssignment(2, OfBytes({5, 5,  //
                                           5, 0})),
              ElementsAre(0, 1));
}

TEST(Assignment, OfNothingIsEmpty) {
  EXPECT_THAT(BestAssignment(0, {}), IsEmpty());
  EXPECT_THAT(GreedyAssignment(0, {}), IsEmpty());
  EXPECT_EQ(AssignmentBound(0, {}), 0);
}

TEST(Assignment, LooksAtLesserPlacesOnlyWhereBytesAreEqual) {
  std::vector<Worth> worth = OfBytes({5, 5,  //
                                      5, 5});
  worth[1].third = worth[2].third = kMaxLesserWorth - 1;
  EXPECT_THAT(BestAssignment(2, worth), ElementsAre(1, 0));
  worth[0].second = 1;
  EXPECT_THAT(BestAssignment(2, worth), ElementsAre(0, 1));
  worth[2].bytes = 6;
  EXPECT_THAT(BestAssignment(2, worth), ElementsAre(1, 0));
}

// Bytes near the limits must not overflow.
TEST(Assignment, TakesLargeNumbers) {
  constexpr int64_t kLarge = int64_t{1} << 61;
  const std::vector<Worth> worth = OfBytes({kLarge, kLarge + 1,  //
                                            kLarge - 1, kLarge + 1});
  EXPECT_THAT(BestAssignment(2, worth), ElementsAre(0, 1));
}

TEST(Assignment, IsTheBestOfAllPermutations) {
  std::mt19937_64 random = TestRandom();
  for (int i = 0; i < 600; ++i) {
    const int n = std::uniform_int_distribution<int>(1, 7)(random);
    // Small numbers make ties, large ones do not.
    const int64_t most = i % 2 == 0 ? 3 : int64_t{1} << 50;
    std::vector<Worth> worth(n * n);
    for (Worth& w : worth) {
      w.bytes = std::uniform_int_distribution<int64_t>(0, most)(random);
      w.second = std::uniform_int_distribution<int64_t>(0, 2)(random);
      w.third = std::uniform_int_distribution<int64_t>(0, 1)(random);
    }
    const std::vector<int> best = BestAssignment(n, worth);
    const std::vector<int> greedy = GreedyAssignment(n, worth);
    ASSERT_TRUE(IsPermutation(best) && IsPermutation(greedy));
    const Worth optimum = BestByTrying(n, worth);
    ASSERT_EQ(SumOf(n, worth, best), optimum);
    ASSERT_LE(SumOf(n, worth, greedy), optimum);
    ASSERT_GE(2 * SumOf(n, worth, greedy).bytes, optimum.bytes);
    ASSERT_GE(AssignmentBound(n, worth), optimum.bytes);
  }
}

}  // namespace
}  // namespace dynatrain::transition
