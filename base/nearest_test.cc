#include "base/nearest.h"

#include <gtest/gtest.h>

namespace dynatrain {
namespace {

TEST(EditDistanceTest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("layer", "layers"), 1);
  EXPECT_EQ(EditDistance("lyaer", "layer"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(NearestTest, FindsWhatWasMeant) {
  const std::vector<std::string> known = {"layout", "explain", "completion"};
  EXPECT_EQ(Nearest("layuot", known), "layout");
  EXPECT_EQ(Nearest("Explian", known), "explain");
  EXPECT_EQ(Nearest("comp", known), "completion") << "a beginning";
}

TEST(NearestTest, SuggestsNothingThatNobodyMeant) {
  EXPECT_EQ(Nearest("plan", {"layout", "completion"}), std::nullopt);
  EXPECT_EQ(Nearest("x", {"layout"}), std::nullopt);
  EXPECT_EQ(Nearest("x", {}), std::nullopt);
  EXPECT_EQ(Nearest(std::string(1000, 'x'), {"layout"}), std::nullopt);
}

TEST(NearestTest, TheFirstOfEquallyNearOnesWins) {
  EXPECT_EQ(Nearest("tx", {"tp", "te"}), "tp");
}

TEST(NearestTest, SaysItAsAQuestion) {
  EXPECT_EQ(DidYouMean("ranks", {"rank"}), "; did you mean rank?");
  EXPECT_EQ(DidYouMean("ranks", {"output"}), "");
}

}  // namespace
}  // namespace dynatrain
