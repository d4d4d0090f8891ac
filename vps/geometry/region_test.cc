#include "vps/geometry/region.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

// Cuts `box` at random, `depth` times.
void Tile(const Box& box, int depth, std::mt19937_64& random,
          std::vector<Box>& tiles) {
  if (depth == 0 || box.dims() == 0) {
    tiles.push_back(box);
    return;
  }
  const int dim = static_cast<int>(random() % box.dims());
  const Interval whole = box.interval(dim);
  const int64_t cut =
      whole.begin + static_cast<int64_t>(random() % (whole.size() + 1));
  Tile(box.With(dim, {whole.begin, cut}), depth - 1, random, tiles);
  Tile(box.With(dim, {cut, whole.end}), depth - 1, random, tiles);
}

TEST(Subtract, LeavesExactlyTheOtherElements) {
  std::mt19937_64 random = TestRandom(11);
  for (int i = 0; i < 2000; ++i) {
    const Box space = *Box::Whole(Index(i % 4, 5));
    const Box whole = RandomBoxIn(space, random);
    const Box taken = RandomBoxIn(space, random);
    const Region rest = Subtract(whole, taken);
    EXPECT_LE(rest.size(), std::max(1, 2 * whole.dims()));
    std::vector<Box> boxes(rest.begin(), rest.end());
    for (const Box& box : rest) EXPECT_FALSE(box.empty());
    if (const auto common = Intersect(whole, taken)) boxes.push_back(*common);
    EXPECT_TRUE(CheckExactCover(whole, boxes).ok()) << whole << " - " << taken;
  }
}

TEST(Subtract, OfAScalarFromItselfIsNothing) {
  EXPECT_TRUE(Subtract(Box(), Box()).empty());
}

TEST(CheckExactCover, AcceptsRandomTilingsAndRefusesThemMinusOneTile) {
  std::mt19937_64 random = TestRandom(12);
  for (int i = 0; i < 500; ++i) {
    const Box whole = *Box::Whole(Index(i % 4, 6));
    std::vector<Box> tiles;
    Tile(whole, 4, random, tiles);
    std::shuffle(tiles.begin(), tiles.end(), random);
    EXPECT_TRUE(CheckExactCover(whole, tiles).ok());
    EXPECT_EQ(NumElements(tiles), whole.num_elements());
    const auto full = std::find_if(tiles.begin(), tiles.end(),
                                   [](const Box& b) { return !b.empty(); });
    std::vector<Box> twice = tiles;
    twice.push_back(*full);
    EXPECT_THAT(std::string(CheckExactCover(whole, twice).message()),
                HasSubstr("overlap"));
    tiles.erase(full);
    EXPECT_THAT(std::string(CheckExactCover(whole, tiles).message()),
                HasSubstr("are in no box"));
  }
}

TEST(CheckExactCover, NamesABoxOutside) {
  const Box whole = *Box::Create({2}, {4});
  EXPECT_THAT(
      std::string(CheckExactCover(whole, {*Box::Create({0}, {4})}).message()),
      HasSubstr("[0:4] lies outside of [2:6]"));
}

TEST(CheckExactCover, OfAnEmptyBoxNeedsNothing) {
  EXPECT_TRUE(CheckExactCover(*Box::Create({3}, {0}), {}).ok());
}

}  // namespace
}  // namespace dynatrain::vps
