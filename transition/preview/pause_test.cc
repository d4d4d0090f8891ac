#include "transition/preview/pause.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;

TEST(PauseTest, IsTheSumOfItsPartsWithTheirArithmetic) {
  const Cost pause = PauseOf({.copied_bytes = 2'000'000'000,
                              .verified_bytes = 3'000'000'000,
                              .transfer_ns = 70'000'000},
                             {.drain_ns = 1'000'000,
                              .copy_bytes_per_second = 100'000'000'000,
                              .verify_bytes_per_second = 1'000'000'000'000,
                              .commit_ns = 6'000'000});
  EXPECT_EQ(pause.DebugString(),
            "pause: 1.000 ms drain + 20.000 ms copy (2 GB / 100 GB/s) + "
            "70.000 ms transfer + 3.000 ms verify (3 GB / 1000 GB/s) + "
            "6.000 ms commit = 100.000 ms");
  EXPECT_EQ(pause.ns(), 100'000'000);
  EXPECT_THAT(PauseOf({.copied_bytes = 2'500'000}, {}).DebugString(),
              HasSubstr("copy (2.5 MB / 500 GB/s)"));
}

TEST(PauseTest, FiguresOutOfRangeAreNamed) {
  EXPECT_TRUE(CheckPauseFigures({}).ok());
  EXPECT_THAT(CheckPauseFigures({.drain_ns = -1}).message(),
              HasSubstr("pause: drain_ns is -1; it must be 0 to"));
  EXPECT_THAT(CheckPauseFigures({.copy_bytes_per_second = 0}).message(),
              HasSubstr("copy_bytes_per_second is 0"));
  EXPECT_THAT(CheckPauseFigures({.verify_bytes_per_second = 1}).message(),
              HasSubstr("verify_bytes_per_second is 1"));
  EXPECT_THAT(CheckPauseFigures({.commit_ns = int64_t{1} << 60}).message(),
              HasSubstr("commit_ns is"));
}

}  // namespace
}  // namespace dynatrain::transition
