#include "vps/layout/slices.h"

#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/geometry/interval.h"

namespace dynatrain::vps {
namespace {

// Block extents, if any, outlive the rule.
struct RandomCut {
  int64_t extent = 1;
  std::vector<int64_t> block_extents;
  CutRule rule;

  std::string DebugString() const {
    return absl::StrCat(extent, " in ", rule.pieces, " pieces of ",
                        rule.num_blocks, " blocks [",
                        absl::StrJoin(block_extents, ", "), "]");
  }
};

RandomCut MakeCut(std::mt19937_64& random) {
  const auto upto = [&](int64_t n) {
    return static_cast<int64_t>(random() % (n + 1));
  };
  RandomCut cut;
  cut.rule.pieces = static_cast<int>(1 + upto(6));
  if (upto(2) > 0) {
    cut.extent = 1 + upto(40);
    cut.rule.num_blocks = static_cast<int>(1 + upto(8));
    return cut;
  }
  cut.block_extents = {1 + upto(9)};
  for (int64_t more = upto(4); more > 0; --more) {
    cut.block_extents.push_back(upto(9));
  }
  cut.extent = 0;
  for (int64_t size : cut.block_extents) cut.extent += size;
  return cut;
}

// The oracle: what CutSlices gives each piece, index by index.
TEST(FindInCutTest, IsTheInverseOfCutSlices) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 20000; ++round) {
    RandomCut cut = MakeCut(random);
    cut.rule.block_extents = cut.block_extents;
    SCOPED_TRACE(cut.DebugString());
    int64_t found = 0;
    for (int piece = 0; piece < cut.rule.pieces; ++piece) {
      const Slices slices = CutSlices({{0, cut.extent}}, cut.rule, piece);
      int64_t own = 0;
      for (const Interval& slice : slices) {
        for (int64_t index = slice.begin; index < slice.end; ++index) {
          ASSERT_EQ(FindInCut(cut.extent, cut.rule, index),
                    (PlaceInCut{piece, own++, Extent(slices)}))
              << index;
          ++found;
        }
      }
    }
    ASSERT_EQ(found, cut.extent);
  }
}

}  // namespace
}  // namespace dynatrain::vps
