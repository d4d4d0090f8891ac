#include "vps/geometry/box.h"

#include <limits>
#include <set>
#include <vector>

#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Box Make(std::vector<int64_t> origin, std::vector<int64_t> shape) {
  return *Box::Create(origin, shape);
}

TEST(Box, OfRankZeroHoldsOneElement) {
  const Box scalar = *Box::Whole({});
  EXPECT_EQ(scalar, Box());
  EXPECT_EQ(scalar.num_elements(), 1);
  EXPECT_FALSE(scalar.empty());
  EXPECT_EQ(scalar.DebugString(), "[]");
  EXPECT_EQ(Intersect(scalar, scalar), scalar);
  EXPECT_TRUE(scalar.Contains(scalar));
}

TEST(Box, WithAnExtentOfZeroIsEmpty) {
  const Box empty = Make({1, 2}, {3, 0});
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty.num_elements(), 0);
  EXPECT_EQ(Intersect(empty, empty), std::nullopt);
  EXPECT_TRUE(Make({7, 7}, {1, 1}).Contains(empty));
}

TEST(Box, PrintsAsSlices) {
  EXPECT_EQ(Make({2, 0}, {4, 4}).DebugString(), "[2:6, 0:4]");
}

TEST(Box, WithReplacesOneIntervalAndRelativeToShifts) {
  const Box box = *Box::Whole({8, 4});
  EXPECT_EQ(box.With(0, {2, 6}), Make({2, 0}, {4, 4}));
  EXPECT_EQ(Make({5, 3}, {2, 1}).RelativeTo({4, 3}), Make({1, 0}, {2, 1}));
}

TEST(Box, IsOrderedByOriginThenShape) {
  EXPECT_LT(Make({0, 1}, {9, 9}), Make({1, 0}, {1, 1}));
  EXPECT_LT(Make({1, 0}, {1, 1}), Make({1, 0}, {1, 2}));
}

struct Refused {
  std::vector<int64_t> origin, shape;
  const char* why;
};

TEST(Box, RefusesWhatIsNoBox) {
  const Refused table[] = {
      {{0}, {1, 2}, "origin has 1 dims, shape has 2"},
      {{0, -1}, {1, 2}, "dim 1 has origin -1"},
      {{0, 0}, {1, -2}, "extent -2"},
      {{1}, {kMax}, "beyond 63 bits"},
      {{0, 0}, {kMax, 2}, "more elements than fit 63 bits"},
      {Index(9, 0), Index(9, 1), "9 dims; at most 8"},
  };
  for (const Refused& row : table) {
    const auto box = Box::Create(row.origin, row.shape);
    EXPECT_EQ(box.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(box.status().message()), HasSubstr(row.why));
  }
  EXPECT_THAT(std::string(Box::Whole(Index(9, 1)).status().message()),
              HasSubstr("9 dims"));
  EXPECT_TRUE(Box::Whole({kMax, 1}).ok());
  EXPECT_TRUE(Box::Whole({kMax, kMax, 0}).ok());
}

TEST(Box, IntersectionAndContainmentAreThoseOfTheElements) {
  std::mt19937_64 random = TestRandom(10);
  for (int i = 0; i < 2000; ++i) {
    CheckShrunk(
        RandomBoxes(Index(i % 4, 5), 2, random), SmallerBoxes,
        [](const BoxesCase& it) {
          const Box &a = it.boxes[0], &b = it.boxes[1];
          const std::vector<Index> of_a = ElementsOf(a);
          const std::set<Index> in_a(of_a.begin(), of_a.end());
          std::vector<Index> common;
          for (const Index& e : ElementsOf(b)) {
            if (in_a.contains(e)) common.push_back(e);
          }
          const std::optional<Box> found = Intersect(a, b);
          EXPECT_EQ(
              found.has_value() ? ElementsOf(*found) : std::vector<Index>(),
              common);
          EXPECT_EQ(a.Contains(b), common.size() == ElementsOf(b).size());
          EXPECT_EQ(a.num_elements(), of_a.size());
        });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps
