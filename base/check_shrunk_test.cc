#include "base/check_shrunk.h"

#include <vector>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace dynatrain {
namespace {

std::vector<int> OneLess(int number) {
  return number > 0 ? std::vector<int>{number - 1} : std::vector<int>();
}

void ExpectBelowSeven(int number) { EXPECT_LT(number, 7); }

TEST(CheckShrunk, OfARightCaseSaysNothing) {
  CheckShrunk(3, OneLess, ExpectBelowSeven);
}

TEST(CheckShrunk, FailsWithTheSmallestCase) {
  EXPECT_NONFATAL_FAILURE(CheckShrunk(40, OneLess, ExpectBelowSeven),
                          "the smallest case that fails: 7");
}

TEST(CheckShrunk, TakesAssertsToo) {
  EXPECT_FATAL_FAILURE(
      CheckShrunk(40, OneLess, [](int number) { ASSERT_LT(number, 7); }),
      "the smallest case that fails: 7");
}

}  // namespace
}  // namespace dynatrain
