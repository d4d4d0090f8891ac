#include "operator/reconcile/text.h"

#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

TEST(TextTest, Bytes) {
  EXPECT_EQ(BytesText(0), "0 bytes");
  EXPECT_EQ(BytesText(1023), "1023 bytes");
  EXPECT_EQ(BytesText(1024), "1.0 KiB");
  EXPECT_EQ(BytesText(25269760), "24.1 MiB");
  EXPECT_EQ(BytesText(int64_t{3} << 40), "3.0 TiB");
  EXPECT_EQ(BytesText(int64_t{3} << 50), "3072.0 TiB");
}

TEST(TextTest, MebibytesAreRoundedUp) {
  EXPECT_EQ(MebibytesText(0), "0 MiB");
  EXPECT_EQ(MebibytesText(1), "1 MiB");
  EXPECT_EQ(MebibytesText(int64_t{2150} << 20), "2150 MiB");
}

TEST(TextTest, Milliseconds) {
  EXPECT_EQ(MillisecondsText(140), "0.14 s");
  EXPECT_EQ(MillisecondsText(75000), "75 s");
}

}  // namespace
}  // namespace dynatrain::control
