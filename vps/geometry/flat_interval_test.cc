#include "vps/geometry/flat_interval.h"

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "base/check_shrunk.h"
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

// A shape, and a position in it.
struct FlatCase {
  std::vector<int64_t> shape;
  int64_t position = 0;

  friend std::ostream& operator<<(std::ostream& out, const FlatCase& it) {
    return out << "position " << it.position << " of " << *Box::Whole(it.shape);
  }
};

std::vector<FlatCase> SmallerFlat(const FlatCase& it) {
  std::vector<FlatCase> smaller;
  for (const BoxesCase& space : SmallerBoxes({it.shape, {}})) {
    smaller.push_back(
        {space.shape, std::min(it.position, space.space().num_elements())});
  }
  if (it.position > 0) smaller.push_back({it.shape, it.position - 1});
  return smaller;
}

// All intervals from the position on: the elements come once each, in order.
void ExpectPositionsInOrder(const FlatCase& it) {
  const int64_t size = Box::Whole(it.shape)->num_elements();
  for (int64_t end = it.position; end <= size; ++end) {
    int64_t next = it.position;
    const std::vector<Box> boxes = BoxesOf(it.shape, {it.position, end});
    for (const Box& box : boxes) {
      for (const Index& index : ElementsOf(box)) {
        ASSERT_EQ(FlatIndex(index, it.shape), next++) << box;
      }
    }
    EXPECT_EQ(next, end);
    EXPECT_LE(boxes.size(), std::max<size_t>(1, 2 * it.shape.size() - 1));
  }
}

TEST(FlatInterval, BoxesListThePositionsInOrder) {
  std::mt19937_64 random = TestRandom(61);
  for (int i = 0; i < 300; ++i) {
    FlatCase drawn = {RandomShape(random)};
    drawn.position = std::uniform_int_distribution<int64_t>(
        0, Box::Whole(drawn.shape)->num_elements())(random);
    CheckShrunk(drawn, SmallerFlat, ExpectPositionsInOrder);
    if (HasFailure()) return;
  }
}

void ExpectNextPositions(const BoxesCase& it) {
  const Box& box = it.boxes[0];
  if (box.empty()) return;
  const int64_t size = it.space().num_elements();
  for (int64_t position = 0; position <= size; ++position) {
    int64_t expected = -1;
    for (const Index& index : ElementsOf(box)) {
      const int64_t flat = FlatIndex(index, it.shape);
      if (flat < position) continue;
      expected = flat;
      break;
    }
    ASSERT_EQ(NextFlatPosition(it.shape, box, position), expected)
        << "from " << position;
  }
}

TEST(FlatInterval, FindsTheNextPositionInABox) {
  std::mt19937_64 random = TestRandom(62);
  for (int i = 0; i < 1000; ++i) {
    CheckShrunk(RandomBoxes(RandomShape(random), 1, random), SmallerBoxes,
                ExpectNextPositions);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps
