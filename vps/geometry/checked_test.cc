#include "vps/geometry/checked.h"

#include <limits>

#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Checked, AddAndMultiplySayWhenTheResultDoesNotFit) {
  EXPECT_EQ(CheckedAdd(kMax - 1, 1), kMax);
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedMultiply(int64_t{1} << 31, int64_t{1} << 31),
            int64_t{1} << 62);
  EXPECT_EQ(CheckedMultiply(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
}

TEST(Checked, RoundsUpToTheNextMultiple) {
  EXPECT_EQ(CheckedRoundUp(0, 4), 0);
  EXPECT_EQ(CheckedRoundUp(5, 4), 8);
  EXPECT_EQ(CheckedRoundUp(8, 4), 8);
  EXPECT_EQ(CheckedRoundUp(kMax, 2), std::nullopt);
}

TEST(Checked, VolumeOfNoDimsIsOne) { EXPECT_EQ(CheckedVolume({}), 1); }

TEST(Checked, VolumeWithAnEmptyDimIsZeroInAnyOrder) {
  EXPECT_EQ(CheckedVolume({kMax, kMax, 0}), 0);
  EXPECT_EQ(CheckedVolume({0, kMax, kMax}), 0);
}

TEST(Checked, VolumeThatDoesNotFitIsRefused) {
  EXPECT_EQ(CheckedVolume({kMax, 1}), kMax);
  EXPECT_EQ(CheckedVolume({kMax, 2}), std::nullopt);
}

}  // namespace
}  // namespace dynatrain::vps
