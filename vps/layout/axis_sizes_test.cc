#include "vps/layout/axis_sizes.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

TEST(AxisSizes, PrintsDpTpPpAlwaysAndOthersOnlyAboveOne) {
  EXPECT_EQ(AxisSizes().ToString(), "dp1,tp1,pp1");
  EXPECT_EQ(AxisSizes::Create({.dp = 2, .tp = 4, .ep = 3})->ToString(),
            "dp2,tp4,pp1,ep3");
  EXPECT_EQ(AxisSizes::Create({.rep = 2})->ToString(), "dp1,tp1,pp1,rep2");
}

TEST(AxisSizes, ParsesAnyOrderAndOmittedAxes) {
  const AxisSizes sizes = *AxisSizes::Parse("rep2,tp3,dp5");
  EXPECT_EQ(sizes, *AxisSizes::Create({.dp = 5, .tp = 3, .rep = 2}));
  EXPECT_EQ(sizes.world_size(), 30);
  EXPECT_EQ(sizes.size("tp"), 3);
  EXPECT_EQ(sizes.size("pp"), 1);
  EXPECT_EQ(sizes.size("cp"), std::nullopt);
}

TEST(AxisSizes, ParseIsTheInverseOfToString) {
  for (int i = 0; i < 32; ++i) {
    const auto size = [&](int bit) { return (i >> bit & 1) + 1; };
    const AxisSizes sizes = *AxisSizes::Create({.dp = size(0),
                                                .tp = size(1),
                                                .pp = size(2),
                                                .ep = size(3),
                                                .rep = size(4)});
    EXPECT_EQ(*AxisSizes::Parse(sizes.ToString()), sizes);
  }
}

struct Refused {
  std::string text;
  std::string why;
};

TEST(AxisSizes, RefusesOtherTextsAndSaysWhatWouldBeRight) {
  const Refused table[] = {
      {"", "\"\" names no axis; the axes are dp, tp, pp, ep, rep"},
      {"dp2,", "\"\" names no axis"},
      {"cp2", "\"cp2\" names no axis"},
      {"DP2", "names no axis"},
      {" dp2", "names no axis"},
      {"2", "names no axis"},
      {"dp", "the size of dp is no plain number; write e.g. \"dp2\""},
      {"dp02", "no plain number"},
      {"dp+2", "no plain number"},
      {"dp 2", "no plain number"},
      {"dp2x", "no plain number"},
      {"dp99999999999999999999", "no plain number"},
      {"dp0", "dp is 0; a size lies in 1..1048576"},
      {"dp-1", "dp is -1"},
      {"tp2000000", "tp is 2000000"},
      {"dp2,tp2,dp2", "dp is given twice"},
      {"dp1024,tp1024,pp2", "more than 1048576 ranks"},
      {std::string("dp\0", 3), "no plain number"},
      {std::string(200, 'x'), "200 bytes"},
  };
  for (const Refused& row : table) {
    const auto sizes = AxisSizes::Parse(row.text);
    EXPECT_EQ(sizes.status().code(), absl::StatusCode::kInvalidArgument)
        << row.text;
    EXPECT_THAT(std::string(sizes.status().message()), HasSubstr(row.why));
  }
}

}  // namespace
}  // namespace dynatrain::vps
