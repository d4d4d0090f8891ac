#include "vps/layout/listing/listed_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "vps/layout/listing/list_rank.h"
#include "vps/layout/listing/listing_testutil.h"
#include "vps/layout/listing/same_layout_testutil.h"
#include "vps/layout/random_layout.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int NumCases() {
  return std::getenv("DYNATRAIN_LONG") == nullptr ? 1000 : 50000;
}

const LiveView kCopyNames = {
    .name = [](int, int, int copy) { return "copy" + std::to_string(copy); },
    .buffers = nullptr};

std::string WhatDiffers(const LayoutCase& layout_case) {
  const Layout layout = *MakeLayout(layout_case);
  const absl::StatusOr<ListedLayout> listed =
      MakeListedLayout(ListAll(layout, kCopyNames));
  if (!listed.ok()) return std::string(listed.status().message());
  std::mt19937_64 random(1);
  return Difference(layout, listed->layout, random);
}

TEST(ListedLayoutTest, ARandomLayoutListedAndReadAgainIsTheSame) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < NumCases(); ++i) {
    const LayoutCase layout_case =
        RandomLayout(RandomTensors(random), 12, random);
    if (WhatDiffers(layout_case).empty()) continue;
    const LayoutCase small = Shrink(layout_case, [](const LayoutCase& smaller) {
      return !WhatDiffers(smaller).empty();
    });
    FAIL() << WhatDiffers(small) << "\n" << small << "case " << i;
  }
}

// [4, 3] by rows: ranks 0 and 2 have the upper half, 1 and 3 the lower.
ListedTensor Half(int64_t row) {
  return Listed("w", "param", {4, 3}, {2, 3},
                {Listed({row, 0}, {2, 3}, 0, {3, 1})});
}

Listing World(std::vector<RankListing> ranks) {
  const int world = static_cast<int>(ranks.size());
  return *Listing::Create("torch", "", world, std::move(ranks));
}

std::string Refusal(Listing listing) {
  return std::string(MakeListedLayout(std::move(listing)).status().message());
}

TEST(ListedLayoutTest, RanksThatHoldTheSameHoldItTogether) {
  const ListedLayout listed = *MakeListedLayout(World({{0, {Half(0)}, {}},
                                                       {1, {Half(2)}, {}},
                                                       {2, {Half(0)}, {}},
                                                       {3, {Half(2)}, {}}}));
  const Layout& layout = listed.layout;
  ASSERT_EQ(layout.num_copies(0), 1);
  EXPECT_EQ(layout.placement(0, 0).DebugString(layout.meshes()[0]),
            "listed, in 2 parts");
  std::vector<std::pair<Box, std::vector<int>>> pieces;
  layout.ForEachPiece(0, 0, Box::CreateUnchecked({1, 1}, {3, 1}),
                      [&](const Piece& piece) {
                        pieces.emplace_back(piece.box, RanksOf(piece.holders));
                      });
  EXPECT_THAT(
      pieces,
      ElementsAre(
          std::pair(Box::CreateUnchecked({1, 1}, {1, 1}), std::vector{0, 2}),
          std::pair(Box::CreateUnchecked({2, 1}, {2, 1}), std::vector{1, 3})));
  EXPECT_EQ(layout.HoldersLike(3, 0, 0).first(), 1);
  EXPECT_EQ(layout.PieceIndex(3, 0, 0), 1);
  EXPECT_EQ(layout.FirstRank(0, 0), 0);
}

TEST(ListedLayoutTest, TensorsOfTheSameRanksShareAPlacement) {
  ListedTensor other = Half(0), other_half = Half(2);
  other.spec = other_half.spec =
      *TensorSpec::Create("v", "param", Dtype::kFloat32, {4, 3});
  const ListedLayout listed = *MakeListedLayout(
      World({{0, {Half(0), other}, {}}, {1, {Half(2), other_half}, {}}}));
  EXPECT_EQ(listed.layout.held(0, 0).placement,
            listed.layout.held(1, 0).placement);
}

TEST(ListedLayoutTest, ATensorTwiceOnOneRankIsTwoCopies) {
  ListedTensor first = Half(0), second = Half(0), other = Half(2);
  first.live_name = "embedding";
  second.live_name = "output";
  ListedTensor other_second = other;
  other.live_name = "embedding";
  other_second.live_name = "output";
  const ListedLayout listed = *MakeListedLayout(
      World({{0, {first, second}, {}}, {1, {other, other_second}, {}}}));
  ASSERT_EQ(listed.layout.num_copies(0), 2);
  EXPECT_EQ(listed.live.name(1, 0, 0), "embedding");
  EXPECT_EQ(listed.live.name(1, 0, 1), "output");
  EXPECT_EQ(listed.live.name(1, 0, 2), "");
}

// Two optimizers have the moments of a tied embedding in shards that begin at
// other places.
TEST(ListedLayoutTest, CopiesThatAreCutDifferentlyAreToldApart) {
  const auto shard = [](int64_t begin, int64_t end) {
    return Listed("w", "exp_avg", {12}, {end - begin},
                  {Listed({begin}, {end - begin}, 0, {1})});
  };
  const ListedLayout listed =
      *MakeListedLayout(World({{0, {shard(0, 4)}, {}},
                               {1, {shard(6, 12)}, {}},
                               {2, {shard(4, 8)}, {}},
                               {3, {shard(0, 6)}, {}},
                               {4, {shard(8, 12)}, {}}}));
  ASSERT_EQ(listed.layout.num_copies(0), 2);
  for (int rank : {0, 2, 4}) EXPECT_TRUE(listed.layout.IsAt(rank, 0, 0));
  for (int rank : {1, 3}) EXPECT_TRUE(listed.layout.IsAt(rank, 0, 1));
}

TEST(ListedLayoutTest, EmptyTensorsAreEverywhere) {
  const ListedLayout listed = *MakeListedLayout(
      World({{0, {Listed("e", "param", {0, 3}, {0, 3}, {})}, {}}}));
  EXPECT_EQ(listed.layout.num_copies(0), 1);
  listed.layout.ForEachRegion(0, [](const OwnedRegion&) { FAIL(); });
}

TEST(ListedLayoutTest, BuffersAreAsListed) {
  ListedTensor upper = Half(0), lower = Half(2);
  upper.buffer = lower.buffer = "0/dense";
  upper.buffer_offset = 64;
  lower.buffer_offset = 128;
  const ListedBuffer buffer = {"0/dense", 256, {}, {{"w", 64, 70}}};
  const ListedLayout listed =
      *MakeListedLayout(World({{0, {upper}, {buffer}}, {1, {lower}, {}}}));
  EXPECT_THAT(listed.layout.buffers(), ElementsAre("0/dense"));
  EXPECT_EQ(listed.layout.BufferOf(1, 0, 0), 0);
  EXPECT_EQ(listed.layout.BufferOffset(0, 0, 0), 64);
  EXPECT_EQ(listed.layout.BufferOffset(1, 0, 0), 128);
  EXPECT_THAT(listed.live.buffers(0), ElementsAre(buffer));
}

TEST(ListedLayoutTest, RefusesWhatIsNotAll) {
  EXPECT_EQ(Refusal(*Listing::Create("torch", "", 2, {{1, {Half(0)}, {}}})),
            "rank 0 isn't listed; a layout is of all the world's 2");
  EXPECT_EQ(Refusal(World({{0, {Half(0)}, {}}})),
            "w/param: no rank lists elements [2:4, 0:3]");
  EXPECT_EQ(
      Refusal(World({{0, {Listed("w", "param", {4, 3}, {0, 3}, {})}, {}}})),
      "w/param: no rank lists an element of it");
}

TEST(ListedLayoutTest, RefusesPartsThatMakeUpNoWholeCopy) {
  ListedTensor middle = Half(0);
  middle.regions[0].global = Box::CreateUnchecked({1, 0}, {2, 3});
  EXPECT_EQ(Refusal(World(
                {{0, {Half(0)}, {}}, {1, {middle}, {}}, {2, {Half(2)}, {}}})),
            "w/param: rank 1: what is listed, from [1:3, 0:3] on, makes up no "
            "whole copy with what other ranks list");
}

// The halves tile the tensor, but a rank has one part of a copy.
TEST(ListedLayoutTest, RefusesARankThatHasTwoPartsOfTheOnlyCopy) {
  ListedTensor upper = Half(0), lower = Half(2);
  upper.live_name = "first";
  lower.live_name = "second";
  EXPECT_EQ(Refusal(World({{0, {upper, lower}, {}}})),
            "w/param: rank 0: what is listed, from [2:4, 0:3] on, makes up no "
            "whole copy with what other ranks list");
}

// Every other element of [2 * n], from `first` on.
ListedTensor EveryOther(int64_t n, int64_t first) {
  std::vector<ListedRegion> regions;
  for (int64_t i = 0; i < n; ++i) {
    regions.push_back(Listed({2 * i + first}, {1}, i, {1}));
  }
  return Listed("w", "param", {2 * n}, {n}, std::move(regions));
}

TEST(ListedLayoutTest, RefusesMorePiecesThanCanBePutTogether) {
  constexpr int64_t kPieces = 4096;  // at most, of one rank
  const std::string refusal =
      "w/param: listed in too many pieces to be put together";
  const RankListing even = {0, {EveryOther(kPieces, 0)}, {}};
  EXPECT_EQ(Refusal(World({even})), refusal);
  const ListedTensor whole = Listed("w", "param", {2 * kPieces}, {2 * kPieces},
                                    {Listed({0}, {2 * kPieces}, 0, {1})});
  EXPECT_EQ(Refusal(World(
                {even, {1, {EveryOther(kPieces, 1)}, {}}, {2, {whole}, {}}})),
            refusal);
}

TEST(ListedLayoutTest, RegionsAreInTheOrderOfLocalMemory) {
  ListedTensor rows = Half(0);
  rows.regions = {Listed({0, 0}, {1, 3}, 3, {3, 1}),
                  Listed({1, 0}, {1, 3}, 0, {3, 1})};
  const ListedLayout listed =
      *MakeListedLayout(World({{0, {rows}, {}}, {1, {Half(2)}, {}}}));
  std::vector<int64_t> offsets;
  listed.layout.ForEachRegion(
      0, [&](const OwnedRegion& region) { offsets.push_back(region.offset); });
  EXPECT_THAT(offsets, ElementsAre(0, 3));
}

TEST(ListedLayoutTest, RefusesMemoryThatIsNoTensor) {
  ListedTensor strided = Half(2);
  strided.regions[0].strides = {1, 2};
  EXPECT_EQ(
      Refusal(World({{0, {Half(0)}, {}}, {1, {strided}, {}}})),
      "rank 1: tensors[0] (w/param): regions[0]: strides: 2 along dim 1; the "
      "row-major local tensor [2, 3] has 1");
  ListedTensor twice = Half(0);
  twice.regions = {Listed({0, 0}, {1, 3}, 0, {3, 1}),
                   Listed({1, 0}, {1, 3}, 0, {3, 1})};
  EXPECT_THAT(Refusal(World({{0, {twice}, {}}, {1, {Half(2)}, {}}})),
              HasSubstr("rank 0: tensors[0] (w/param): regions[1].offset: "
                        "[1:2, 0:3] at 0 shares addresses with regions[0]"));
}

TEST(ListedLayoutTest, RefusesTensorsThatOverlapInABuffer) {
  ListedTensor w = Half(0), v = Half(0);
  v.spec = *TensorSpec::Create("v", "param", Dtype::kFloat32, {4, 3});
  w.buffer = v.buffer = "b";
  v.buffer_offset = 5;
  ListedTensor x = w, y = v;  // in a buffer that is listed first
  x.spec = *TensorSpec::Create("x", "param", Dtype::kFloat32, {4, 3});
  y.spec = *TensorSpec::Create("y", "param", Dtype::kFloat32, {4, 3});
  x.buffer = y.buffer = "c";
  EXPECT_EQ(
      Refusal(World({{0, {x, y, w, v}, {}}})),
      "rank 0: tensors[3] (v/param).buffer_offset: 5 in \"b\" lies within "
      "tensors[2] (w/param), from 0 on");
}

// Offsets count elements of the tensor's own dtype: w ends at byte 24.
TEST(ListedLayoutTest, TensorsOfABufferAreComparedInBytes) {
  ListedTensor w = Half(0), w_rest = Half(2), v = Half(0), v_rest = Half(2);
  v.spec = v_rest.spec =
      *TensorSpec::Create("v", "param", Dtype::kBfloat16, {4, 3});
  w.buffer = v.buffer = "b";
  v.buffer_offset = 12;
  const auto world = [&] {
    return World({{0, {w, v}, {}}, {1, {w_rest, v_rest}, {}}});
  };
  EXPECT_EQ(Refusal(world()), "");
  v.buffer_offset = 11;
  EXPECT_THAT(Refusal(world()), HasSubstr("(v/param).buffer_offset: 11"));
}

}  // namespace
}  // namespace dynatrain::vps
