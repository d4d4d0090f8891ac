// What of a picture doesn't depend on how it looks; golden_plan_test has whole
// ones.
#include "tools/cli/picture/plan_picture.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/picture/testutil.h"

namespace dynatrain::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using transition::Preview;

TEST(PlanPicture, IsADocumentOfAnySize) {
  for (int ranks : {2, 8, 96, 320}) {
    for (bool grouped : {false, true}) {
      const std::string picture =
          PlanPicture("a < b", PreviewForTest(ranks, 2, 1, grouped));
      EXPECT_THAT(picture, HasSubstr("a &lt; b"));
      EXPECT_THAT(picture, HasSubstr("Who sends what to whom"));
      EXPECT_THAT(picture, HasSubstr("When: Inside nodes"));
      EXPECT_THAT(picture, Not(HasSubstr("nan")));
      EXPECT_THAT(picture, Not(HasSubstr("inf")));
      EXPECT_LT(picture.size(), 2'000'000);
    }
  }
}

TEST(PlanPicture, ShowsAndNamesCollectives) {
  EXPECT_THAT(PlanPicture("p", PreviewForTest(8, 2, 1, false)),
              Not(HasSubstr("Collectives:")));
  const Preview preview = FanOutForTest(8, 2);
  const std::string picture = PlanPicture("p", preview);
  EXPECT_THAT(picture, HasSubstr("Collectives: 1; what ranks pass on"));
  EXPECT_THAT(picture, HasSubstr("broadcast 1 of"));
  EXPECT_THAT(picture, HasSubstr(", passed on"));
  EXPECT_THAT(picture, HasSubstr("black edge: passed on"));
}

}  // namespace
}  // namespace dynatrain::cli
