#include "base/shrink.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain {
namespace {

using ::testing::ElementsAre;
using Numbers = std::vector<int>;

// One number left out, or one lower.
std::vector<Numbers> Smaller(const Numbers& numbers) {
  std::vector<Numbers> smaller;
  for (size_t i = 0; i < numbers.size(); ++i) {
    Numbers fewer = numbers;
    fewer.erase(fewer.begin() + i);
    smaller.push_back(std::move(fewer));
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    Numbers less = numbers;
    if (--less[i] >= 0) smaller.push_back(std::move(less));
  }
  return smaller;
}

Numbers RandomNumbers(std::mt19937_64& random) {
  Numbers numbers(random() % 20);
  for (int& number : numbers) number = static_cast<int>(random() % 100);
  return numbers;
}

// A planted fault of one number, and one of two together.
TEST(Shrink, LeavesOnlyWhatMakesACaseFail) {
  const auto has_large = [](const Numbers& numbers) {
    return std::any_of(numbers.begin(), numbers.end(),
                       [](int number) { return number >= 7; });
  };
  const auto sum_is_large = [](const Numbers& numbers) {
    return numbers.size() >= 2 &&
           std::accumulate(numbers.begin(), numbers.end(), 0) >= 5;
  };
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 200; ++i) {
    const Numbers numbers = RandomNumbers(random);
    if (has_large(numbers)) {
      EXPECT_THAT(Shrink(numbers, Smaller, has_large), ElementsAre(7));
    }
    if (sum_is_large(numbers)) {
      const Numbers small = Shrink(numbers, Smaller, sum_is_large);
      EXPECT_EQ(small.size(), 2);
      EXPECT_EQ(std::accumulate(small.begin(), small.end(), 0), 5);
    }
  }
}

TEST(Shrink, ACaseWithoutSmallerOnesIsItself) {
  const auto none = [](int) { return std::vector<int>(); };
  EXPECT_EQ(Shrink(3, none, [](int) { return true; }), 3);
}

}  // namespace
}  // namespace dynatrain
