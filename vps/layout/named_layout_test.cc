#include "vps/layout/named_layout.h"

#include <cstdint>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"
#include "vps/geometry/region.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/boxes.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ManifestTensor Tensor(std::string name, std::vector<int64_t> shape,
                      Sharding sharding) {
  return {*TensorSpec::Create(std::move(name), "param", Dtype::kFloat32, shape),
          std::move(sharding)};
}

Layout Make(absl::string_view sizes, std::vector<ManifestTensor> tensors) {
  return *MakeLayout(Mesh::Of(*AxisSizes::Parse(sizes)),
                     *Manifest::Create(std::move(tensors)));
}

std::vector<int> List(const HolderSet& holders) {
  std::vector<int> ranks;
  for (int i = 0; i < holders.size(); ++i) ranks.push_back(holders.rank(i));
  return ranks;
}

TEST(NamedLayout, CutsFsdpOverTpAsTorchDoes) {
  // (dp, tp) = (2, 2): tp halves the rows, dp halves what tp left.
  const Layout layout =
      Make("dp2,tp2", {Tensor("w", {8, 3}, {{"tp", 0}, {"dp", 0}})});
  EXPECT_EQ(LocalBox(layout, 0, 0).DebugString(), "[0:2, 0:3]");  // dp0 tp0
  EXPECT_EQ(LocalBox(layout, 1, 0).DebugString(), "[4:6, 0:3]");  // dp0 tp1
  EXPECT_EQ(LocalBox(layout, 2, 0).DebugString(), "[2:4, 0:3]");  // dp1 tp0
}

TEST(NamedLayout, VisitsRegionsInOrderAndSkipsEmptyOnes) {
  const Layout layout =
      Make("dp4", {Tensor("a", {3}, {{"dp", 0}}), Tensor("b", {}, {}),
                   Tensor("c", {2, 8}, {{"dp", 1}})});
  std::vector<std::string> seen;
  layout.ForEachRegion(3, [&](const OwnedRegion& region) {
    seen.push_back((std::ostringstream() << region).str());
  });
  EXPECT_THAT(seen,
              ElementsAre("tensor 1 copy 0 [] at 0 strides []",
                          "tensor 2 copy 0 [0:2, 6:8] at 0 strides [2, 1]"));
}

TEST(NamedLayout, ListsHoldersAsAProductWithTheAuthoritativeFirst) {
  const Layout layout = Make("dp2,tp3,rep2", {Tensor("w", {9}, {{"tp", 0}})});
  EXPECT_THAT(List(layout.HoldersLike(7, 0, 0)), ElementsAre(1, 4, 7, 10));
  std::vector<std::string> seen;
  layout.ForEachPiece(0, 0, *Box::Create({2}, {3}), [&](const Piece& piece) {
    seen.push_back(absl::StrCat(piece.box.DebugString(), " of ",
                                piece.region.DebugString(), " ",
                                piece.holders.first()));
  });
  EXPECT_THAT(seen, ElementsAre("[2:3] of [0:3] 0", "[3:5] of [3:6] 1"));
}

TEST(HolderSet, IndexOfIsTheInverseOfRank) {
  const Layout layout =
      Make("dp3,tp2,rep2,ep2", {Tensor("w", {9}, {{"dp", 0}})});
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    const HolderSet holders = layout.HoldersLike(rank, 0, 0);
    const std::vector<int> list = List(holders);
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
    EXPECT_EQ(holders.size(), 8);
    for (int other = 0; other < layout.world_size(); ++other) {
      const auto it = std::find(list.begin(), list.end(), other);
      const auto index = holders.IndexOf(other);
      EXPECT_EQ(index.has_value(), it != list.end());
      if (index.has_value()) {
        EXPECT_EQ(*index, it - list.begin());
      }
    }
    EXPECT_TRUE(holders.Contains(rank));
  }
}

TEST(NamedLayout, NeedsTheAxesThatSplit) {
  const Mesh mesh = *Mesh::Create({{"dp", 2}});
  const auto layout =
      MakeLayout(mesh, *Manifest::Create({Tensor("w", {4}, {{"tp", 0}})}));
  EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(layout.status().message()),
              HasSubstr("tensor w/param: splits[0]: axis \"tp\" is none of "
                        "mesh dp2"));
}

TEST(NamedLayout, GivesOnePlacementToTensorsThatAreCutAlike) {
  const Layout layout =
      Make("dp2", {Tensor("a", {4}, {{"dp", 0}}), Tensor("b", {8}, {{"dp", 0}}),
                   Tensor("c", {4}, {}), Tensor("d", {4}, {{"tp", 0}})});
  const auto placement = [&](int t) { return layout.held(t, 0).placement; };
  EXPECT_EQ(placement(0), placement(1));
  EXPECT_NE(placement(0), placement(2));
  // tp has one rank: it cuts nothing.
  EXPECT_EQ(placement(2), placement(3));
  EXPECT_EQ(layout.placements().size(), 2);
}

struct NamedCase {
  AxisSizes sizes;
  Sharding sharding;
  BoxesCase box;  // one; its space is the tensor

  friend std::ostream& operator<<(std::ostream& out, const NamedCase& it) {
    return out << it.box << ", " << DebugString(it.sharding) << " of "
               << it.sizes;
  }
};

NamedCase RandomNamed(std::mt19937_64& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const AxisSizes sizes = *AxisSizes::Create({.dp = pick(1, 3),
                                              .tp = pick(1, 3),
                                              .ep = pick(1, 2),
                                              .rep = pick(1, 2)});
  std::vector<int64_t> shape;
  for (int dim = pick(0, 3); dim > 0; --dim) shape.push_back(pick(1, 7));
  Sharding sharding;
  for (const char* axis : {"tp", "rep", "dp", "ep"}) {
    if (shape.empty() || pick(0, 2) == 0) continue;
    sharding.push_back({axis, pick(0, static_cast<int>(shape.size()) - 1)});
  }
  return {sizes, sharding, RandomBoxes(shape, 1, random)};
}

// Of as many dims and ranks.
std::vector<NamedCase> SmallerNamed(const NamedCase& it) {
  std::vector<NamedCase> smaller;
  for (size_t i = 0; i < it.sharding.size(); ++i) {
    Sharding& fewer = smaller.emplace_back(it).sharding;
    fewer.erase(fewer.begin() + i);
  }
  for (const BoxesCase& less : WithLess(it.box)) {
    smaller.push_back({it.sizes, it.sharding, less});
  }
  return smaller;
}

void ExpectPiecesLikeLocalBoxes(const NamedCase& it) {
  const Layout layout =
      Make(it.sizes.ToString(), {Tensor("w", it.box.shape, it.sharding)});
  std::vector<Box> pieces;
  layout.ForEachPiece(0, 0, it.box.boxes[0], [&](const Piece& piece) {
    pieces.push_back(piece.box);
    for (int rank = 0; rank < layout.world_size(); ++rank) {
      EXPECT_EQ(piece.holders.Contains(rank),
                LocalBox(layout, rank, 0).Contains(piece.box))
          << piece.box << " on rank " << rank;
    }
  });
  EXPECT_EQ(CheckExactCover(it.box.boxes[0], pieces), absl::OkStatus());
}

// On random layouts: the pieces of a random box tile it, and the holders of a
// piece are exactly the ranks whose local box contains it.
TEST(NamedLayout, PiecesAndHoldersAgreeWithLocalBoxes) {
  std::mt19937_64 random = TestRandom(20);
  for (int i = 0; i < 1000; ++i) {
    CheckShrunk(RandomNamed(random), SmallerNamed, ExpectPiecesLikeLocalBoxes);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps
