#include "vps/layout/slices.h"

#include <ostream>
#include <random>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/geometry/interval.h"

namespace dynatrain::vps {
namespace {

struct CutCase {
  int64_t extent = 1;
  int pieces = 1;
  int num_blocks = 1;
  std::vector<int64_t> block_extents;  // if any, they sum up to `extent`

  CutRule rule() const { return {pieces, num_blocks, block_extents}; }
  friend std::ostream& operator<<(std::ostream& out, const CutCase& it) {
    return out << it.extent << " in " << it.pieces << " pieces of "
               << it.num_blocks << " blocks ["
               << absl::StrJoin(it.block_extents, ", ") << "]";
  }
};

CutCase RandomCut(std::mt19937_64& random) {
  const auto upto = [&](int64_t n) {
    return static_cast<int64_t>(random() % (n + 1));
  };
  CutCase cut;
  cut.pieces = static_cast<int>(1 + upto(6));
  if (upto(2) > 0) {
    cut.extent = 1 + upto(40);
    cut.num_blocks = static_cast<int>(1 + upto(8));
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

std::vector<CutCase> SmallerCuts(const CutCase& it) {
  std::vector<CutCase> smaller;
  if (it.pieces > 1) --smaller.emplace_back(it).pieces;
  if (it.num_blocks > 1) --smaller.emplace_back(it).num_blocks;
  if (it.block_extents.empty()) {
    if (it.extent > 1) --smaller.emplace_back(it).extent;
    return smaller;
  }
  for (size_t i = 0; i < it.block_extents.size(); ++i) {
    CutCase& fewer = smaller.emplace_back(it);
    fewer.extent -= it.block_extents[i];
    fewer.block_extents.erase(fewer.block_extents.begin() + i);
    if (fewer.block_extents.empty()) smaller.pop_back();
    if (it.block_extents[i] == 0) continue;
    CutCase& less = smaller.emplace_back(it);
    --less.extent;
    --less.block_extents[i];
  }
  return smaller;
}

// The oracle: what CutSlices gives each piece, index by index.
void ExpectInverse(const CutCase& cut) {
  int64_t found = 0;
  for (int piece = 0; piece < cut.pieces; ++piece) {
    const Slices slices = CutSlices({{0, cut.extent}}, cut.rule(), piece);
    int64_t own = 0;
    for (const Interval& slice : slices) {
      for (int64_t index = slice.begin; index < slice.end; ++index) {
        ASSERT_EQ(FindInCut(cut.extent, cut.rule(), index),
                  (PlaceInCut{piece, own++, Extent(slices)}))
            << index;
        ++found;
      }
    }
  }
  ASSERT_EQ(found, cut.extent);
}

TEST(FindInCutTest, IsTheInverseOfCutSlices) {
  std::mt19937_64 random = TestRandom();
  for (int round = 0; round < 20000; ++round) {
    CheckShrunk(RandomCut(random), SmallerCuts, ExpectInverse);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps
