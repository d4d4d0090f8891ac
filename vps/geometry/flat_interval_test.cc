#include "vps/geometry/flat_interval.h"

#include <random>
#include <string>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"
#include "vps/geometry/strided_run.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;

std::vector<Box> BoxesOf(std::vector<int64_t> shape, Interval interval) {
  std::vector<Box> boxes;
  ForEachBoxOfFlatInterval(shape, interval,
                           [&](const Box& box) { boxes.push_back(box); });
  return boxes;
}

std::vector<std::string> Texts(std::vector<int64_t> shape, Interval interval) {
  std::vector<std::string> texts;
  for (const Box& box : BoxesOf(std::move(shape), interval)) {
    texts.push_back(box.DebugString());
  }
  return texts;
}

TEST(FlatInterval, OfAMatrixIsEndOfARowWholeRowsBeginOfARow) {
  EXPECT_THAT(Texts({4, 5}, {3, 14}),
              ElementsAre("[0:1, 3:5]", "[1:2, 0:5]", "[2:3, 0:4]"));
  EXPECT_THAT(Texts({4, 5}, {5, 15}), ElementsAre("[1:3, 0:5]"));
  EXPECT_THAT(Texts({4, 5}, {6, 9}), ElementsAre("[1:2, 1:4]"));
  EXPECT_THAT(Texts({4, 5}, {0, 20}), ElementsAre("[0:4, 0:5]"));
  EXPECT_THAT(Texts({4, 5}, {7, 7}), ElementsAre());
}

TEST(FlatInterval, OfAScalarIsTheScalar) {
  EXPECT_THAT(Texts({}, {0, 1}), ElementsAre("[]"));
  EXPECT_THAT(Texts({}, {0, 0}), ElementsAre());
}

TEST(FlatInterval, NeedsNoMoreThanTwoNMinusOneBoxesForHugeTensors) {
  const int64_t n = int64_t{1} << 20;
  EXPECT_THAT(
      Texts({n, n, n}, {1, n * n * n - 1}),
      ElementsAre("[0:1, 0:1, 1:1048576]", "[0:1, 1:1048576, 0:1048576]",
                  "[1:1048575, 0:1048576, 0:1048576]",
                  "[1048575:1048576, 0:1048575, 0:1048576]",
                  "[1048575:1048576, 1048575:1048576, 0:1048575]"));
}

std::vector<int64_t> RandomShape(std::mt19937_64& random) {
  std::vector<int64_t> shape(std::uniform_int_distribution<int>(0, 4)(random));
  for (int64_t& extent : shape) {
    extent = std::uniform_int_distribution<int>(1, 4)(random);
  }
  return shape;
}

// All intervals of random shapes: the elements come once each, in order.
TEST(FlatInterval, BoxesListThePositionsInOrder) {
  std::mt19937_64 random = TestRandom(61);
  for (int i = 0; i < 300; ++i) {
    const std::vector<int64_t> shape = RandomShape(random);
    const int64_t size = Box::Whole(shape)->num_elements();
    const int64_t begin =
        std::uniform_int_distribution<int64_t>(0, size)(random);
    for (int64_t end = begin; end <= size; ++end) {
      int64_t next = begin;
      const std::vector<Box> boxes = BoxesOf(shape, {begin, end});
      for (const Box& box : boxes) {
        for (const Index& index : ElementsOf(box)) {
          ASSERT_EQ(FlatIndex(index, shape), next++) << box;
        }
      }
      EXPECT_EQ(next, end);
      EXPECT_LE(boxes.size(), std::max<size_t>(1, 2 * shape.size() - 1));
    }
  }
}

TEST(FlatInterval, FindsTheNextPositionInABox) {
  std::mt19937_64 random = TestRandom(62);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<int64_t> shape = RandomShape(random);
    const Box whole = *Box::Whole(shape);
    const Box box = RandomBoxIn(whole, random);
    if (box.empty()) continue;
    for (int64_t position = 0; position <= whole.num_elements(); ++position) {
      int64_t expected = -1;
      for (const Index& index : ElementsOf(box)) {
        const int64_t flat = FlatIndex(index, shape);
        if (flat < position) continue;
        expected = flat;
        break;
      }
      ASSERT_EQ(NextFlatPosition(shape, box, position), expected)
          << box << " from " << position;
    }
  }
}

}  // namespace
}  // namespace dynatrain::vps
