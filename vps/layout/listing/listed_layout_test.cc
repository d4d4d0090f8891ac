#include "vps/layout/listing/listed_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "vps/layout/listing/list_rank.h"
#include "vps/layout/listing/listing_testutil.h"
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

Listing ListingOf(const Layout& layout) {
  std::vector<RankListing> ranks;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    ranks.push_back(ListRank(layout, kCopyNames, rank));
  }
  return *Listing::Create("torch", "", layout.world_size(), std::move(ranks));
}

// Everything that a rank holds, in an order of its own.
std::multiset<std::string> HoldingsOf(const Layout& layout, int rank) {
  std::multiset<std::string> holdings;
  layout.ForEachRegion(rank, [&](const OwnedRegion& region) {
    std::ostringstream text;
    OwnedRegion copy = region;
    copy.tensor = copy.copy = 0;
    text << layout.tensor(region.tensor) << " " << copy << " of "
         << ::testing::PrintToString(
                *layout.LocalShapeOf(rank, region.tensor, region.copy));
    holdings.insert(text.str());
  });
  return holdings;
}

std::set<int> HoldersOf(const Layout& layout, int tensor, const Box& box) {
  std::set<int> ranks;
  for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
    layout.ForEachPiece(tensor, copy, box, [&](const Piece& piece) {
      for (int i = 0; i < piece.holders.size(); ++i) {
        const int rank = piece.holders.rank(i);
        EXPECT_EQ(piece.holders.IndexOf(rank), i);
        EXPECT_TRUE(layout.IsAt(rank, tensor, copy));
        ranks.insert(rank);
      }
    });
  }
  return ranks;
}

// `copies`: whether tensors may have several. Then the parts of different
// copies may be such that they can't be told apart, which is refused.
void CheckRoundTrip(std::mt19937_64& random, bool copies, int& made) {
  LayoutCase layout_case = RandomLayout(RandomTensors(random), 12, random);
  for (LayoutCase::Tensor& tensor : layout_case.tensors) {
    if (!copies) tensor.copies.resize(1);
  }
  const Layout layout = *MakeLayout(layout_case);
  const absl::StatusOr<ListedLayout> listed =
      MakeListedLayout(ListingOf(layout));
  if (!listed.ok() && copies) return;
  ASSERT_TRUE(listed.ok()) << listed.status() << "\n" << layout_case;
  ++made;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    ASSERT_EQ(HoldingsOf(listed->layout, rank), HoldingsOf(layout, rank))
        << "rank " << rank << "\n"
        << layout_case;
  }
  for (int t = 0; t < listed->layout.num_tensors(); ++t) {
    const TensorSpec& spec = listed->layout.tensor(t);
    const int original = *layout.Find(spec.name(), spec.state());
    for (int i = 0; i < 4 && !spec.whole().empty(); ++i) {
      Box element = spec.whole();
      for (int dim = 0; dim < element.dims(); ++dim) {
        const int64_t index = std::uniform_int_distribution<int64_t>(
            0, element.extent(dim) - 1)(random);
        element = element.With(dim, {index, index + 1});
      }
      ASSERT_EQ(HoldersOf(listed->layout, t, element),
                HoldersOf(layout, original, element))
          << spec << " " << element << "\n"
          << layout_case;
    }
  }
}

TEST(ListedLayoutTest, GivesEachRankTheRegionsThatItLists) {
  std::mt19937_64 random = TestRandom(1);
  int made = 0;
  for (int i = 0; i < NumCases() && !HasFatalFailure(); ++i) {
    CheckRoundTrip(random, /*copies=*/false, made);
  }
  EXPECT_EQ(made, NumCases());
}

TEST(ListedLayoutTest, SeveralCopiesAreToldApartWhereTheyCanBe) {
  std::mt19937_64 random = TestRandom(2);
  int made = 0;
  for (int i = 0; i < NumCases() && !HasFatalFailure(); ++i) {
    CheckRoundTrip(random, /*copies=*/true, made);
  }
  EXPECT_GT(made, NumCases() / 4);
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

std::string Refusal(const Listing& listing) {
  return std::string(MakeListedLayout(listing).status().message());
}

TEST(ListedLayoutTest, RanksThatHoldTheSameHoldItTogether) {
  const ListedLayout listed = *MakeListedLayout(World({{0, {Half(0)}, {}},
                                                       {1, {Half(2)}, {}},
                                                       {2, {Half(0)}, {}},
                                                       {3, {Half(2)}, {}}}));
  const Layout& layout = listed.layout;
  ASSERT_EQ(layout.num_copies(0), 1);
  std::vector<std::pair<Box, std::vector<int>>> pieces;
  layout.ForEachPiece(0, 0, Box::CreateUnchecked({1, 1}, {3, 1}),
                      [&](const Piece& piece) {
                        std::vector<int> ranks;
                        for (int i = 0; i < piece.holders.size(); ++i) {
                          ranks.push_back(piece.holders.rank(i));
                        }
                        pieces.emplace_back(piece.box, ranks);
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
}

TEST(ListedLayoutTest, EmptyTensorsAreLayoutsToo) {
  const ListedLayout listed = *MakeListedLayout(
      World({{0, {Listed("e", "param", {0, 3}, {0, 3}, {})}, {}}}));
  EXPECT_EQ(listed.layout.num_copies(0), 1);
  listed.layout.ForEachRegion(0, [](const OwnedRegion&) { FAIL(); });
}

TEST(ListedLayoutTest, RefusesWhatIsNotAll) {
  EXPECT_THAT(Refusal(*Listing::Create("torch", "", 2, {{1, {Half(0)}, {}}})),
              HasSubstr("rank 0 isn't listed"));
  EXPECT_EQ(Refusal(World({{0, {Half(0)}, {}}})),
            "layout: tensor w/param copy 0: listed: 6 of the 12 elements of "
            "[0:4, 0:3] are missing");
  EXPECT_EQ(
      Refusal(World({{0, {Listed("w", "param", {4, 3}, {0, 3}, {})}, {}}})),
      "w/param: no rank holds an element of it");
}

TEST(ListedLayoutTest, RefusesPartsOfSeveralCuts) {
  ListedTensor middle = Half(0);
  middle.regions[0].global = Box::CreateUnchecked({1, 0}, {2, 3});
  EXPECT_THAT(Refusal(World(
                  {{0, {Half(0)}, {}}, {1, {middle}, {}}, {2, {Half(2)}, {}}})),
              HasSubstr("layout: tensor w/param copy 1: listed: "));
}

}  // namespace
}  // namespace dynatrain::vps
