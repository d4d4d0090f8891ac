#include "vps/layout/listing/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "vps/layout/listing/listing_testutil.h"

namespace dynatrain::vps {
namespace {

const ListingNames kNames = {"A", "B"};

// All of a [4, 3] tensor in one box.
ListedTensor Whole() {
  return Listed("w", "param", {4, 3}, {4, 3},
                {Listed({0, 0}, {4, 3}, 0, {3, 1})});
}

std::string Difference(const ListedTensor& a, const ListedTensor& b) {
  const std::optional<TensorDifference> difference = Compare(a, b, kNames);
  return difference.has_value() ? difference->text : "";
}

TEST(CompareTest, EqualTensorsDoNotDiffer) {
  EXPECT_EQ(Difference(Whole(), Whole()), "");
}

TEST(CompareTest, HowTheyAreCutIntoBoxesDoesNotMatter) {
  ListedTensor rows = Whole();
  rows.regions.clear();
  for (int64_t row : {2, 0, 3, 1}) {
    rows.regions.push_back(Listed({row, 0}, {1, 3}, row * 3, {99, 1}));
  }
  EXPECT_EQ(Difference(Whole(), rows), "");
  EXPECT_EQ(Difference(rows, Whole()), "");
}

TEST(CompareTest, NamesTheFirstThingThatDiffers) {
  ListedTensor other = Whole();
  other.regions[0].strides[0] = 4;
  EXPECT_EQ(Difference(Whole(), other),
            "element [1, 0] lies at 3 in A, at 4 in B");
  other = Whole();
  other.regions[0].offset = 2;
  EXPECT_EQ(Difference(Whole(), other),
            "element [0, 0] lies at 0 in A, at 2 in B");
  other.regions = {Listed({1, 0}, {3, 3}, 0, {3, 1})};
  EXPECT_EQ(Difference(Whole(), other), "elements [0:1, 0:3] only in A");
  ListedTensor upper = other;
  upper.regions = {Listed({0, 0}, {2, 3}, 0, {3, 1})};
  EXPECT_EQ(Difference(upper, other),
            "elements [0:1, 0:3] only in A; elements [2:4, 0:3] only in B");
  other.local_shape = {3, 3};
  EXPECT_EQ(Difference(Whole(), other),
            "local_shape is [4, 3] in A, [3, 3] in B");
  other.spec = *TensorSpec::Create("w", "param", Dtype::kFloat32, {8, 3});
  EXPECT_EQ(Difference(Whole(), other), "shape is [4, 3] in A, [8, 3] in B");
  other.spec = *TensorSpec::Create("w", "param", Dtype::kInt8, {8, 3});
  EXPECT_EQ(Difference(Whole(), other), "dtype is float32 in A, int8 in B");
}

TEST(CompareTest, LiveNamesDifferOnlyIfBothAreKnown) {
  ListedTensor a = Whole(), b = Whole();
  a.live_name = "0/w";
  EXPECT_EQ(Difference(a, b), "");
  b.live_name = "1/w";
  EXPECT_EQ(Difference(a, b), "live_name is 0/w in A, 1/w in B");
}

std::string Text(const std::vector<RankListing>& a,
                 const std::vector<RankListing>& b, int most = 10) {
  const Listing expected = *Listing::Create("torch", "", 8, a);
  const Listing actual = *Listing::Create("torch", "", 8, b);
  ListingComparison comparison("A", "B");
  comparison.AddWorld(expected, actual);
  for (const RankListing& rank : expected.ranks()) {
    comparison.AddRank(rank, actual.Find(rank.rank));
  }
  EXPECT_EQ(comparison.equal(), comparison.Text().empty());
  return comparison.Text(most);
}

TEST(ListingComparisonTest, EqualListingsHaveNoText) {
  EXPECT_EQ(Text({{0, {Whole()}, {}}}, {{0, {Whole()}, {}}}), "");
}

TEST(ListingComparisonTest, TellsWhatIsMissingAndWhatIsExtra) {
  ListedTensor other = Whole();
  other.spec = *TensorSpec::Create("x", "param", Dtype::kFloat32, {4, 3});
  EXPECT_EQ(Text({{0, {Whole()}, {}}, {1, {}, {}}}, {{0, {other}, {}}}),
            "w/param, rank 0\n"
            "  only in A\n"
            "x/param, rank 0\n"
            "  only in B\n"
            "rank, rank 1\n"
            "  not in B\n"
            "3 differences in 1 tensors on 2 ranks\n");
}

TEST(ListingComparisonTest, TellsOneKindOfDifferenceOnce) {
  std::vector<RankListing> a, b;
  for (int rank = 0; rank < 4; ++rank) {
    ListedTensor moved = Whole();
    moved.local_shape = {20};
    a.push_back({rank, {moved}, {}});
    moved.regions[0].offset = 1 + rank;
    b.push_back({rank, {moved}, {}});
  }
  EXPECT_EQ(Text(a, b),
            "w/param, rank 0\n"
            "  element [0, 0] lies at 0 in A, at 1 in B\n"
            "  the like on ranks 1-3\n"
            "1 difference in 4 tensors on 4 ranks\n");
}

TEST(ListingComparisonTest, ListsTheFirstAndCountsTheRest) {
  RankListing rank = {0, {}, {}};
  for (const char* name : {"a", "b", "c"}) {
    rank.tensors.push_back(Listed(name, "param", {1}, {1}, {}));
  }
  EXPECT_EQ(Text({rank}, {{0, {}, {}}}, 1),
            "a/param, rank 0\n"
            "  only in A\n"
            "... and 2 more\n"
            "3 differences in 3 tensors on 1 rank\n");
}

TEST(ListingComparisonTest, CopiesOnOneRankAreMatchedInOrder) {
  ListedTensor first = Whole(), second = Whole();
  first.live_name = "embedding.weight";
  second.live_name = "output_layer.weight";
  EXPECT_EQ(Text({{0, {first, second}, {}}}, {{0, {first, second}, {}}}), "");
  EXPECT_EQ(Text({{0, {first, second}, {}}}, {{0, {first}, {}}}),
            "w/param, rank 0\n"
            "  only in A\n"
            "1 difference in 2 tensors on 1 rank\n");
  EXPECT_EQ(Text({{0, {first}, {}}}, {{0, {first, second}, {}}}),
            "w/param, rank 0\n"
            "  only in B\n"
            "1 difference in 1 tensors on 1 rank\n");
}

TEST(ListingComparisonTest, NamesTheFirstPartOfABufferThatDiffers) {
  const ListedBuffer a = {"0/dense", 8, {{0, 8, 7}}, {{"w", 0, 6}}};
  ListedBuffer b = a;
  b.tensors[0].end = 7;
  EXPECT_EQ(Text({{0, {}, {a}}}, {{0, {}, {b}}}),
            "buffer 0/dense, rank 0\n"
            "  w at [0, 6) in A, w at [0, 7) in B\n"
            "1 difference in 0 tensors on 1 rank\n");
  b = a;
  b.tensors.push_back({"x", 6, 7});
  EXPECT_THAT(Text({{0, {}, {a}}}, {{0, {}, {b}}}),
              testing::HasSubstr("nothing more in A, x at [6, 7) in B"));
}

TEST(ListingComparisonTest, WorldsOfDifferentSizesDiffer) {
  ListingComparison comparison("A", "B");
  comparison.AddWorld(*Listing::Create("torch", "", 8, {}),
                      *Listing::Create("torch", "", 4, {}));
  EXPECT_EQ(comparison.Text(),
            "world\n"
            "  world_size is 8 in A, 4 in B\n"
            "1 difference in 0 tensors on 0 ranks\n");
}

}  // namespace
}  // namespace dynatrain::vps
