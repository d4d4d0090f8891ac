#include "tools/cli/picture/collective_levels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::cli {
namespace {

using ::testing::ElementsAre;

TEST(CollectiveLevels, WhatOverlapsStandsAbove) {
  EXPECT_THAT(LevelsOf({}), ElementsAre());
  // One after the other; beside the first; behind both.
  EXPECT_THAT(LevelsOf({{"a", 0, 5}, {"b", 5, 9}, {"c", 1, 6}, {"d", 9, 10}}),
              ElementsAre(0, 0, 1, 0));
  // Those that begin together.
  EXPECT_THAT(LevelsOf({{"a", 3, 4}, {"b", 3, 8}, {"c", 0, 3}}),
              ElementsAre(0, 1, 0));
}

}  // namespace
}  // namespace dynatrain::cli
