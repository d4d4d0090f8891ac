#include "vps/geometry/region.h"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

// Cuts of a box, one after the other, each of one of the tiles so far. Any
// numbers mean a tiling: they are taken modulo what there is.
struct Tiling {
  struct TileCut {
    uint64_t tile, dim, at;
  };
  std::vector<int64_t> shape;
  std::vector<TileCut> cuts;

  std::vector<Box> Tiles() const {
    std::vector<Box> tiles = {*Box::Whole(shape)};
    for (const TileCut& cut : cuts) {
      if (shape.empty()) break;
      const size_t i = cut.tile % tiles.size();
      const int dim = static_cast<int>(cut.dim % shape.size());
      const Interval whole = tiles[i].interval(dim);
      const int64_t at =
          whole.begin + static_cast<int64_t>(cut.at % (whole.size() + 1));
      tiles.push_back(tiles[i].With(dim, {at, whole.end}));
      tiles[i] = tiles[i].With(dim, {whole.begin, at});
    }
    return tiles;
  }

  friend std::ostream& operator<<(std::ostream& out, const Tiling& tiling) {
    for (const Box& tile : tiling.Tiles()) out << tile << " ";
    return out << "of " << *Box::Whole(tiling.shape);
  }
};

Tiling RandomTiling(int dims, std::mt19937_64& random) {
  Tiling tiling = {Index(dims, 6), {}};
  for (int i = 0; i < 15; ++i) {
    tiling.cuts.push_back({random(), random(), random()});
  }
  return tiling;
}

std::vector<Tiling> SmallerTilings(const Tiling& tiling) {
  std::vector<Tiling> smaller;
  for (size_t i = 0; i < tiling.cuts.size(); ++i) {
    std::vector<Tiling::TileCut>& cuts = smaller.emplace_back(tiling).cuts;
    cuts.erase(cuts.begin() + i);
  }
  for (size_t dim = 0; dim < tiling.shape.size(); ++dim) {
    Index& fewer = smaller.emplace_back(tiling).shape;
    fewer.erase(fewer.begin() + dim);
    if (tiling.shape[dim] > 1) --smaller.emplace_back(tiling).shape[dim];
  }
  return smaller;
}

TEST(Subtract, LeavesExactlyTheOtherElements) {
  std::mt19937_64 random = TestRandom(11);
  for (int i = 0; i < 2000; ++i) {
    CheckShrunk(RandomBoxes(Index(i % 4, 5), 2, random), SmallerBoxes,
                [](const BoxesCase& it) {
                  const Box &whole = it.boxes[0], &taken = it.boxes[1];
                  const Region rest = Subtract(whole, taken);
                  EXPECT_LE(rest.size(), std::max(1, 2 * whole.dims()));
                  std::vector<Box> boxes(rest.begin(), rest.end());
                  for (const Box& box : rest) EXPECT_FALSE(box.empty());
                  if (const auto common = Intersect(whole, taken)) {
                    boxes.push_back(*common);
                  }
                  EXPECT_EQ(CheckExactCover(whole, boxes), absl::OkStatus());
                });
    if (HasFailure()) return;
  }
}

TEST(Subtract, OfAScalarFromItselfIsNothing) {
  EXPECT_TRUE(Subtract(Box(), Box()).empty());
}

// In any order of tiles.
void ExpectExactCoverOnly(const Tiling& tiling) {
  const Box whole = *Box::Whole(tiling.shape);
  std::vector<Box> tiles = tiling.Tiles();
  std::mt19937_64 order;
  std::shuffle(tiles.begin(), tiles.end(), order);
  EXPECT_EQ(CheckExactCover(whole, tiles), absl::OkStatus());
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

TEST(CheckExactCover, AcceptsRandomTilingsAndRefusesThemMinusOneTile) {
  std::mt19937_64 random = TestRandom(12);
  for (int i = 0; i < 500; ++i) {
    CheckShrunk(RandomTiling(i % 4, random), SmallerTilings,
                ExpectExactCoverOnly);
    if (HasFailure()) return;
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
