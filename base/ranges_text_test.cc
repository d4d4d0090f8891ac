#include "base/ranges_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dynatrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RangesTextTest, JoinsRunsAndShowsSteps) {
  EXPECT_EQ(RangesText({}), "none");
  EXPECT_EQ(RangesText({7}), "7");
  EXPECT_EQ(RangesText({0, 1, 2, 3, 8}), "0-3, 8");
  EXPECT_EQ(RangesText({0, 4, 8, 12, 16}), "0, 4 .. 16");
  EXPECT_EQ(RangesText({0, 4, 8}), "0, 4, 8") << "short enough to be listed";
  EXPECT_EQ(RangesText({0, 2, 3, 4}), "0, 2-4");
}

TEST(RangesTextTest, CutsWhatIsTooLong) {
  EXPECT_EQ(RangesText({0, 3, 4, 9, 11, 12, 20}, 2), "0, 3-4, ... (7 in all)");
  EXPECT_EQ(RangesText({0, 1, 2}, 1), "0-2") << "nothing was cut";
  // The first of more: each is counted once.
  EXPECT_EQ(RangesText({0, 1, 2}, 8, 5000), "0-2, ... (5000 in all)");
  EXPECT_EQ(RangesText({0, 3, 4, 9}, 2, 5000), "0, 3-4, ... (5000 in all)");
}

TEST(ParseRangesTest, ReadsWhatRangesTextWrites) {
  EXPECT_THAT(*ParseRanges("0-3, 8", 9), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(*ParseRanges("5,5,4", 9), ElementsAre(4, 5));
  EXPECT_THAT(*ParseRanges("0", 1), ElementsAre(0));
}

TEST(ParseRangesTest, RefusesNamingThePart) {
  for (const auto& [text, why] :
       {std::pair{"", "\"\" is not a number in 0..7"},
        {"8", "\"8\" is not a number in 0..7"},
        {"1,-2", "\"\" in \"-2\" is not a number in 0..7"},
        {"1-", "\"\" in \"1-\" is not a number"},
        {"3-8", "\"8\" in \"3-8\" is not a number"},
        {"3-1", "\"3-1\" ends before it begins"},
        {"0x1", "\"0x1\" is not a number"},
        {"99999999999", "is not a number in 0..7"}}) {
    EXPECT_THAT(std::string(ParseRanges(text, 8).status().message()),
                HasSubstr(why))
        << text;
  }
}

}  // namespace
}  // namespace dynatrain
