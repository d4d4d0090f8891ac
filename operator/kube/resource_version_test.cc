#include "operator/kube/resource_version.h"

#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

TEST(ResourceVersionTest, DecimalWithoutLeadingZeros) {
  for (const char* good : {"1", "10", "99999999999999999999999"}) {
    EXPECT_TRUE(IsResourceVersion(good)) << good;
  }
  for (const char* bad : {"", "0", "01", "-1", "1a", " 1"}) {
    EXPECT_FALSE(IsResourceVersion(bad)) << bad;
  }
}

TEST(ResourceVersionTest, LongerIsNewerThenLexical) {
  EXPECT_TRUE(IsNewer("10", "9"));
  EXPECT_TRUE(IsNewer("100000000000000000000001", "100000000000000000000000"));
  EXPECT_FALSE(IsNewer("9", "10"));
  EXPECT_FALSE(IsNewer("10", "10"));
}

TEST(ResourceVersionTest, WhatIsNoVersionIsEarliest) {
  EXPECT_TRUE(IsNewer("1", ""));
  EXPECT_FALSE(IsNewer("", "1"));
  EXPECT_FALSE(IsNewer("", ""));
  EXPECT_FALSE(IsNewer("0", "1"));
}

}  // namespace
}  // namespace dynatrain::control
