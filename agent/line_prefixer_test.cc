#include "agent/line_prefixer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"

namespace dynatrain::agent {
namespace {

TEST(LinePrefixerTest, PrefixesWholeLinesOnly) {
  LinePrefixer prefixer("[1] ");
  EXPECT_EQ(prefixer.Feed("a\n\nb"), "[1] a\n[1] \n");
  EXPECT_EQ(prefixer.Feed("c"), "");
  EXPECT_EQ(prefixer.Feed("\n"), "[1] bc\n");
  EXPECT_EQ(prefixer.Finish(), "");
}

TEST(LinePrefixerTest, TheLastLineIsNotLost) {
  LinePrefixer prefixer("[0] ");
  EXPECT_EQ(prefixer.Feed("Segmentation"), "");
  EXPECT_EQ(prefixer.Finish(), "[0] Segmentation\n");
  EXPECT_EQ(prefixer.Finish(), "");
}

TEST(LinePrefixerTest, AnEndlessLineIsCutAndNothingOfItLost) {
  LinePrefixer prefixer("");
  const std::string endless(LinePrefixer::kMaxLineBytes * 2 + 5, 'x');
  const std::string full(LinePrefixer::kMaxLineBytes, 'x');
  EXPECT_EQ(prefixer.Feed(endless), absl::StrCat(full, "\n", full, "\n"));
  EXPECT_EQ(prefixer.Finish(), "xxxxx\n");
}

TEST(LinePrefixerTest, HowTheInputIsCutMakesNoDifference) {
  std::mt19937_64 random = TestRandom();
  for (int round = 0; round < 200; ++round) {
    std::string input;
    for (size_t n = random() % 60; n > 0; --n) {
      input += random() % 4 == 0 ? '\n' : 'a';
    }
    LinePrefixer whole("[0] ");
    std::string expected = whole.Feed(input);
    expected += whole.Finish();
    LinePrefixer pieces("[0] ");
    std::string actual;
    for (size_t at = 0; at < input.size();) {
      const size_t size = 1 + random() % 7;
      actual += pieces.Feed(absl::string_view(input).substr(at, size));
      at += size;
    }
    EXPECT_EQ(actual + pieces.Finish(), expected) << input;
  }
}

}  // namespace
}  // namespace dynatrain::agent
