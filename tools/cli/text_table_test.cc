#include "tools/cli/text_table.h"

#include <gtest/gtest.h>

#include <limits>

namespace dynatrain::cli {
namespace {

TEST(TextTableTest, AlignsColumnsAndEndsLinesClean) {
  TextTable table({{"rank", TextTable::Align::kRight}, {"layers"}, {"what"}});
  table.Add({"3", "0-7", "all"});
  table.Add({"12", "8", ""});
  EXPECT_EQ(table.Text(),
            "rank  layers  what\n"
            "   3  0-7     all\n"
            "  12  8\n");
}

TEST(GroupedTest, PutsCommasBetweenThousands) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(-123456), "-123,456");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
}

TEST(BytesTextTest, KeepsThreeDigits) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(1000), "1 kB");
  EXPECT_EQ(BytesText(999499), "999 kB");
  EXPECT_EQ(BytesText(999500), "1 MB");
  EXPECT_EQ(BytesText(8620000000), "8.62 GB");
  EXPECT_EQ(BytesText(std::numeric_limits<int64_t>::max()), "9.22 EB");
}

TEST(TimeTextTest, IsInMillisecondsOrSeconds) {
  EXPECT_EQ(TimeText(0), "0 ms");
  EXPECT_EQ(TimeText(34'060), "0.0341 ms");
  EXPECT_EQ(TimeText(4'410'000), "4.41 ms");
  EXPECT_EQ(TimeText(359'400'000), "359 ms");
  EXPECT_EQ(TimeText(999'499'999), "999 ms");
  EXPECT_EQ(TimeText(4'356'000'000), "4.36 s");
  EXPECT_EQ(TimeText(22'800'000'000), "22.8 s");
}

TEST(MatchesGlobTest, StarsAndQuestionMarks) {
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_TRUE(MatchesGlob("a*b*c", "axxbyybc"));
  EXPECT_FALSE(MatchesGlob("a*b*c", "axxbyyb"));
  EXPECT_TRUE(MatchesGlob("?.b", "a.b"));
  EXPECT_FALSE(MatchesGlob("?.b", ".b"));
  EXPECT_TRUE(MatchesGlob("w[0]", "w[0]"));
  EXPECT_FALSE(MatchesGlob("weight", "weights")) << "whole names";
}

TEST(MatchesGlobTest, ManyStarsAreNotSlow) {
  std::string glob, text(20000, 'a');
  for (int i = 0; i < 2000; ++i) glob += "a*";
  EXPECT_FALSE(MatchesGlob(glob + "b", text));
}

}  // namespace
}  // namespace dynatrain::cli
