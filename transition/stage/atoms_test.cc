#include "transition/stage/atoms.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using vps::Box;

using Atoms = std::vector<std::pair<Box, std::vector<int>>>;

Atoms AtomsOf(const std::vector<Box>& regions) {
  Atoms atoms;
  ForEachAtom(regions, [&](const Box& box, absl::Span<const int> members) {
    atoms.push_back({box, {members.begin(), members.end()}});
  });
  return atoms;
}

Box Rows(int64_t begin, int64_t end) {
  return *Box::Create({begin, 0}, {end - begin, 4});
}

TEST(AtomsTest, RegionsThatDontOverlapAreAtoms) {
  EXPECT_THAT(AtomsOf({Rows(4, 8), Rows(0, 4), Rows(4, 8)}),
              ElementsAre(Pair(Rows(0, 4), ElementsAre(1)),
                          Pair(Rows(4, 8), ElementsAre(0, 2))));
}

TEST(AtomsTest, OverlapsAreAtomsOfTheirOwn) {
  EXPECT_THAT(AtomsOf({Rows(0, 6), Rows(4, 8)}),
              ElementsAre(Pair(Rows(0, 4), ElementsAre(0)),
                          Pair(Rows(4, 6), ElementsAre(0, 1)),
                          Pair(Rows(6, 8), ElementsAre(1))));
}

// Two columns that are cut by rows in different places: planes that cut no
// region come first.
TEST(AtomsTest, CutNoMoreThanTheyMust) {
  const std::vector<Box> regions = {
      *Box::Create({0, 0}, {3, 2}), *Box::Create({3, 0}, {5, 2}),
      *Box::Create({0, 2}, {6, 2}), *Box::Create({6, 2}, {2, 2})};
  EXPECT_EQ(AtomsOf(regions).size(), 4);
}

TEST(AtomsTest, AScalarIsAnAtom) {
  EXPECT_THAT(AtomsOf({Box(), Box()}),
              ElementsAre(Pair(Box(), ElementsAre(0, 1))));
}

// Against the definition, for any boxes.
TEST(AtomsTest, AreDisjointCoverAllAndLieInTheirMembersAlone) {
  std::mt19937_64 random = TestRandom(71);
  for (int i = 0; i < 500; ++i) {
    const std::vector<int64_t> shape = {1 + static_cast<int64_t>(random() % 9),
                                        1 + static_cast<int64_t>(random() % 9)};
    std::vector<Box> regions;
    for (int n = 1 + static_cast<int>(random() % 6); n > 0; --n) {
      const auto cut = [&](int64_t size) {
        const int64_t begin = static_cast<int64_t>(random() % size);
        return std::pair(begin,
                         1 + static_cast<int64_t>(random() % (size - begin)));
      };
      const auto [row, rows] = cut(shape[0]);
      const auto [column, columns] = cut(shape[1]);
      regions.push_back(*Box::Create({row, column}, {rows, columns}));
    }
    const Atoms atoms = AtomsOf(regions);
    for (int64_t row = 0; row < shape[0]; ++row) {
      for (int64_t column = 0; column < shape[1]; ++column) {
        const Box element = *Box::Create({row, column}, {1, 1});
        std::vector<int> expected;
        for (int r = 0; r < static_cast<int>(regions.size()); ++r) {
          if (regions[r].Contains(element)) expected.push_back(r);
        }
        std::vector<std::vector<int>> found;
        for (const auto& [box, members] : atoms) {
          if (box.Contains(element)) found.push_back(members);
        }
        ASSERT_EQ(found.size(), expected.empty() ? 0 : 1);
        if (found.empty()) continue;
        ASSERT_EQ(found[0], expected);
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
