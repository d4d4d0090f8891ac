#include "transition/plan/candidates.h"

#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

int Pick(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

// One after the other.
std::vector<int64_t> TurnsOf(int index, int size, int candidates, int64_t begin,
                             int64_t end) {
  std::vector<int64_t> turns;
  for (int64_t turn = begin; turn < end; ++turn) {
    const int first = FirstSender(turn, size, candidates);
    if ((index - first + candidates) % candidates < size) turns.push_back(turn);
  }
  return turns;
}

TEST(ForEachTurnOf, IsTheInverseOfFirstSender) {
  std::mt19937_64 random = TestRandom(11);
  for (int i = 0; i < 20000; ++i) {
    const int candidates = Pick(random, 1, 40);
    const int size = Pick(random, 1, candidates);
    const int index = Pick(random, 0, candidates - 1);
    const int64_t begin = Pick(random, 0, 100);
    const int64_t end = begin + Pick(random, 0, 100);
    std::vector<int64_t> turns;
    ForEachTurnOf(index, size, candidates, begin, end,
                  [&](int64_t turn) { turns.push_back(turn); });
    ASSERT_EQ(turns, TurnsOf(index, size, candidates, begin, end))
        << index << ": " << size << " of " << candidates << " from " << begin;
  }
}

// What a sender looks at is what it may serve: it doesn't grow with the world.
TEST(ForEachTurnOf, VisitsNoMoreThanThereAre) {
  for (const int ranks : {64, 1024, 16384, 12289}) {
    int turns = 0;
    ForEachTurnOf(ranks / 3, 32, ranks, 5, 5 + ranks,
                  [&](int64_t) { ++turns; });
    EXPECT_GE(turns, 31);
    EXPECT_LE(turns, 33);
  }
}

}  // namespace
}  // namespace dynatrain::transition
