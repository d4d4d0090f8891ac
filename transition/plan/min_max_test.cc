#include "transition/plan/min_max.h"

#include <algorithm>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/min_max_oracle.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;

TEST(MinMax, RelievesAHolderThatHasOtherThingsToSend) {
  const MinMax best = SolveMinMax({{{90, {0, 1, 2}}}}, {60, 0, 30});
  EXPECT_EQ(best.busiest_bytes, 60);
  EXPECT_THAT(best.shares, ElementsAre(ElementsAre(0, 60, 30)));
}

TEST(MinMax, GivesNothingToAHolderAboveTheLevel) {
  const MinMax best = SolveMinMax({{{10, {0, 1}}}}, {1000, 0});
  EXPECT_EQ(best.busiest_bytes, 10);
  EXPECT_THAT(best.shares, ElementsAre(ElementsAre(0, 10)));
}

TEST(MinMax, IsEvenBeyondTheBusiestSet) {
  // Holder 0 alone has 100; the others share 60 evenly, not 60 and 0.
  const MinMax best = SolveMinMax({{{100, {0}}, {60, {1, 2}}}}, {0, 0, 0});
  EXPECT_EQ(best.busiest_bytes, 100);
  EXPECT_THAT(best.shares, ElementsAre(ElementsAre(100), ElementsAre(30, 30)));
}

TEST(MinMax, OfNothingIsNothing) {
  EXPECT_EQ(SolveMinMax({}, {7}).busiest_bytes, 0);
}

TEST(MinMax, IsTheLeastThereIs) {
  std::mt19937_64 random = TestRandom(60);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 500; ++i) {
    const int num_holders = static_cast<int>(pick(1, 8));
    std::vector<SharedDemand> demands(pick(1, 8));
    std::vector<OracleDemand> oracle;
    for (SharedDemand& demand : demands) {
      demand.bytes = pick(0, 1) == 0 ? pick(0, 20) : pick(0, int64_t{1} << 45);
      for (int h = 0; h < num_holders; ++h) {
        if (pick(0, 2) == 0) demand.holders.push_back(h);
      }
      if (demand.holders.empty()) demand.holders = {0};
      oracle.push_back({demand.bytes, demand.holders});
    }
    std::vector<int64_t> loads;
    for (int h = 0; h < num_holders; ++h) {
      loads.push_back(pick(0, 1) * pick(0, int64_t{1} << 44));
      oracle.push_back({loads.back(), {h}});
    }
    const MinMax best = SolveMinMax(demands, loads);
    const int64_t most_alone = *std::max_element(loads.begin(), loads.end());
    EXPECT_EQ(std::max(best.busiest_bytes, most_alone),
              BusiestHolder(oracle, num_holders))
        << "case " << i;
    for (size_t d = 0; d < demands.size(); ++d) {
      int64_t sum = 0;
      for (size_t h = 0; h < demands[d].holders.size(); ++h) {
        EXPECT_GE(best.shares[d][h], 0);
        sum += best.shares[d][h];
        loads[demands[d].holders[h]] += best.shares[d][h];
      }
      EXPECT_EQ(sum, demands[d].bytes);
    }
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()),
              std::max(best.busiest_bytes, most_alone));
  }
}

}  // namespace
}  // namespace dynatrain::transition
