#include "operator/kube/time_text.h"

#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

TEST(TimeTextTest, WritesBothForms) {
  const absl::Time time = absl::FromUnixMicros(1700000000000005);
  EXPECT_EQ(TimeText(time), "2023-11-14T22:13:20Z");
  EXPECT_EQ(MicroTimeText(time), "2023-11-14T22:13:20.000005Z");
}

TEST(TimeTextTest, ReadsWhatItWrites) {
  const absl::Time time = absl::FromUnixMicros(1700000000000005);
  EXPECT_EQ(ParseTimeText(MicroTimeText(time)).value(), time);
  EXPECT_EQ(ParseTimeText(TimeText(time)).value(),
            absl::FromUnixSeconds(1700000000));
}

TEST(TimeTextTest, RefusesOtherText) {
  for (const char* bad : {"", "now", "2023-11-14", "2023-11-14 22:13:20"}) {
    EXPECT_EQ(ParseTimeText(bad).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace dynatrain::control
