#include "transition/stage/extents.h"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/check/extent_use.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

Piece Rows(int tensor, int64_t begin, int64_t end, int64_t columns) {
  return {tensor, *Box::Create({begin, 0}, {end - begin, columns})};
}

// 6 rows of 4 bytes, then 2 rows of 4: extents of 8 are two rows each.
TEST(ExtentsTest, AreInUseFromTheFirstByteToTheLast) {
  const std::vector<Piece> pieces = {Rows(0, 0, 6, 4), Rows(1, 0, 2, 4)};
  const std::vector<int64_t> item_bytes = {1, 1};
  Extents extents(pieces, item_bytes, 8);
  EXPECT_EQ(extents.Use(Rows(0, 1, 2, 4)), 8);
  EXPECT_EQ(extents.Use(Rows(0, 0, 1, 4)), 0);
  EXPECT_EQ(extents.Use(Rows(0, 3, 5, 4)), 16);
  EXPECT_EQ(extents.Use(Rows(1, 0, 2, 4)), 8);
  EXPECT_EQ(extents.bytes_in_use(), 32);
  EXPECT_EQ(extents.GiveBack(Rows(0, 1, 2, 4)), 0);
  EXPECT_EQ(extents.GiveBack(Rows(0, 0, 1, 4)), 8);
  EXPECT_EQ(extents.bytes_in_use(), 24);
}

// Against a set of bytes, for regions of any shape.
TEST(ExtentsTest, AreThoseOfTheirBytes) {
  std::mt19937_64 random = TestRandom(74);
  const auto below = [&](int64_t end) {
    return static_cast<int64_t>(random() % end);
  };
  for (int i = 0; i < 300; ++i) {
    std::vector<Piece> pieces;
    std::vector<int64_t> item_bytes;
    for (int tensor = 0; tensor < 3; ++tensor) {
      item_bytes.push_back(1 + below(3));
      pieces.push_back(
          {tensor, *Box::Create({below(3), below(3), 0},
                                {1 + below(4), 1 + below(4), 1 + below(5)})});
    }
    const int64_t extent_bytes = 1 + below(9);
    Extents extents(pieces, item_bytes, extent_bytes);
    std::set<int64_t> bytes;
    // Elements one by one, in any order, taken and given back.
    for (int step = 0; step < 60; ++step) {
      const Piece& piece = pieces[below(3)];
      std::vector<int64_t> origin, shape;
      for (int dim = 0; dim < 3; ++dim) {
        origin.push_back(piece.region.origin(dim) +
                         below(piece.region.extent(dim)));
        shape.push_back(1 +
                        below(piece.region.interval(dim).end - origin.back()));
      }
      const Piece region = {piece.tensor, *Box::Create(origin, shape)};
      std::vector<int64_t> of_region;
      int64_t begin = 0;
      for (int tensor = 0; tensor < piece.tensor; ++tensor) {
        begin += pieces[tensor].region.num_elements() * item_bytes[tensor];
      }
      const Box& box = piece.region;
      for (int64_t x = 0; x < shape[0]; ++x) {
        for (int64_t y = 0; y < shape[1]; ++y) {
          for (int64_t z = 0; z < shape[2]; ++z) {
            const int64_t position =
                ((origin[0] - box.origin(0) + x) * box.extent(1) +
                 (origin[1] - box.origin(1) + y)) *
                    box.extent(2) +
                (origin[2] - box.origin(2) + z);
            for (int64_t b = 0; b < item_bytes[piece.tensor]; ++b) {
              of_region.push_back(begin + position * item_bytes[piece.tensor] +
                                  b);
            }
          }
        }
      }
      size_t in_use = 0;
      for (const int64_t b : of_region) in_use += bytes.count(b);
      if (in_use == 0) {
        extents.Use(region);
        bytes.insert(of_region.begin(), of_region.end());
      } else if (in_use == of_region.size()) {
        extents.GiveBack(region);
        for (const int64_t b : of_region) bytes.erase(b);
      }
      std::set<int64_t> expected;
      for (const int64_t b : bytes) expected.insert(b / extent_bytes);
      ASSERT_EQ(extents.bytes_in_use(),
                static_cast<int64_t>(expected.size()) * extent_bytes)
          << "case " << i;
    }
  }
}

// The checker's own count, of disjoint rows taken and given back in any order.
TEST(ExtentsTest, TheCheckerCountsTheSame) {
  std::mt19937_64 random = TestRandom(71);
  for (int i = 0; i < 200; ++i) {
    const int64_t columns = 1 + static_cast<int64_t>(random() % 20);
    const std::vector<Piece> pieces = {Rows(1, 3, 9, columns),
                                       Rows(0, 0, 7, columns)};
    const std::vector<int64_t> item_bytes = {4, 2};
    const int64_t extent_bytes = 1 + static_cast<int64_t>(random() % 40);
    Extents extents(pieces, item_bytes, extent_bytes);
    ExtentUse use(pieces, item_bytes, extent_bytes);
    std::vector<bool> in_use(7);
    for (int step = 0; step < 40; ++step) {
      const auto row = static_cast<int64_t>(random() % 7);
      const Piece region = Rows(0, row, row + 1, columns);
      if (in_use[row]) {
        ASSERT_EQ(extents.GiveBack(region), -use.Unuse(region));
      } else {
        ASSERT_EQ(extents.Use(region), use.Use(region));
      }
      in_use[row] = !in_use[row];
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
