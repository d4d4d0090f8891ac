#include "api/layout_text/nearest_layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Nearest(
    absl::string_view text, int64_t layers,
    absl::FunctionRef<bool(const LayoutText&)> feasible) {
  std::vector<std::string> texts;
  for (const LayoutText& layout :
       NearestLayouts(*LayoutText::Parse(text), layers, feasible)) {
    texts.push_back(layout.ToString());
  }
  return texts;
}

int64_t Number(const LayoutText& text, absl::string_view name) {
  return text.Get(name).value_or(1);
}

TEST(NearestLayoutsTest, TheAxisThatHasToChangeLeast) {
  EXPECT_THAT(Nearest("tp7,pp4,dp4", 80,
                      [](const LayoutText& it) {
                        return 64 % Number(it, "tp") == 0 && !it.Get("first") &&
                               !it.Get("last");
                      }),
              ElementsAre("tp8,pp4,dp4", "tp4,pp4,dp4"));
}

// Another tp would do, but dp has less far to go.
TEST(NearestLayoutsTest, OfSeveralAxesTheOneThatChangesLeast) {
  EXPECT_THAT(Nearest("tp8,dp7", 80,
                      [](const LayoutText& it) {
                        return Number(it, "tp") * Number(it, "dp") == 64 ||
                               it == *LayoutText::Parse("tp16,dp7");
                      }),
              ElementsAre("tp8,dp8"));
}

TEST(NearestLayoutsTest, UnevenStagesComeFirst) {
  EXPECT_THAT(Nearest("tp4,pp8,dp4", 94,
                      [](const LayoutText& it) {
                        const int64_t first = it.Get("first").value_or(0);
                        const int64_t last = it.Get("last").value_or(0);
                        const int64_t stages =
                            Number(it, "pp") - (first > 0) - (last > 0);
                        return first > 0 && last > 0 && stages > 0 &&
                               (94 - first - last) % stages == 0;
                      }),
              ElementsAre("tp4,pp8,dp4,first11,last11"));
}

TEST(NearestLayoutsTest, TwoAxesIfOneIsNotEnough) {
  EXPECT_THAT(Nearest("tp6,pp3", 80,
                      [](const LayoutText& it) {
                        return 64 % Number(it, "tp") == 0 &&
                               80 % Number(it, "pp") == 0 && !it.Get("first") &&
                               !it.Get("last");
                      }),
              ElementsAre("tp8,pp4"));
}

// 94 layers on 8 stages of 128 ranks, where ep8 is one axis too many.
TEST(NearestLayoutsTest, UnevenStagesAndAnAxisIfThatIsNotEnough) {
  EXPECT_THAT(Nearest("tp4,pp8,dp4,ep8", 94,
                      [](const LayoutText& it) {
                        return Number(it, "tp") * Number(it, "pp") *
                                       Number(it, "ep") ==
                                   128 &&
                               Number(it, "pp") == 8 && it.Get("first") == 11 &&
                               it.Get("last") == 11;
                      }),
              ElementsAre("tp2,pp8,dp4,ep8,first11,last11"));
}

TEST(NearestLayoutsTest, NothingIfNothingHelps) {
  for (const char* text :
       {"tp7,pp4,dp4,ep2,cp2",
        "tp20,pp20,dp20,cp20,ep49,etp49,vpp49,instances49"}) {
    int asked = 0;
    EXPECT_THAT(Nearest(text, 1'000'000,
                        [&](const LayoutText&) {
                          ++asked;
                          return false;
                        }),
                IsEmpty())
        << text;
    EXPECT_LT(asked, 8000) << text;
  }
}

// Numbers above and below it are above and below 8.
TEST(NearestLayoutsTest, EtpThatIsNotGivenIsAsTp) {
  EXPECT_THAT(Nearest("tp8,ep2", 80,
                      [](const LayoutText& it) {
                        const int64_t etp = Number(it, "etp");
                        return Number(it, "tp") == 8 && (etp == 4 || etp == 12);
                      }),
              ElementsAre("tp8,ep2,etp12", "tp8,ep2,etp4"));
}

}  // namespace
}  // namespace dynatrain::api
