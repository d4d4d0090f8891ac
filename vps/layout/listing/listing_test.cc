#include "vps/layout/listing/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "vps/layout/listing/listing_testutil.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

// Rows 2..3 of a [4, 3] tensor, as a local tensor of its own.
ListedTensor LowerHalf() {
  return Listed("w", "param", {4, 3}, {2, 3},
                {Listed({2, 0}, {2, 3}, 0, {3, 1})});
}

std::string Refusal(std::vector<RankListing> ranks, int64_t world_size = 2) {
  return std::string(Listing::Create("torch", "", world_size, std::move(ranks))
                         .status()
                         .message());
}

std::string Refusal(ListedTensor tensor) {
  return Refusal({{1, {std::move(tensor)}, {}}});
}

TEST(ListingTest, SortsRanksAndFindsThem) {
  const Listing listing = *Listing::Create(
      "torch", "2.15", 4, {{3, {LowerHalf()}, {}}, {1, {}, {}}});
  EXPECT_EQ(listing.ranks()[0].rank, 1);
  EXPECT_EQ(listing.Find(3), &listing.ranks()[1]);
  EXPECT_EQ(listing.Find(0), nullptr);
  EXPECT_EQ(listing.Find(2), nullptr);
  EXPECT_EQ(listing.Find(4), nullptr);
}

TEST(ListingTest, AcceptsEmptyShardsAndScalars) {
  EXPECT_EQ(Refusal(Listed("w", "param", {4, 3}, {0, 3}, {})), "");
  EXPECT_EQ(Refusal(Listed("w", "param", {4, 3}, {0, 3},
                           {Listed({4, 0}, {0, 3}, 0, {3, 1})})),
            "");
  EXPECT_EQ(Refusal(Listed("s", "step", {}, {}, {Listed({}, {}, 0, {})})), "");
}

TEST(ListingTest, AcceptsAnyStridesWithinTheStorage) {
  EXPECT_EQ(Refusal(Listed("w", "param", {4, 3}, {12},
                           {Listed({0, 0}, {4, 3}, 3, {-1, 4})})),
            "");
}

TEST(ListingTest, RefusesAWorldThatIsNone) {
  EXPECT_EQ(Refusal({}, 0), "world_size: 0 is not in 1..1048576");
  EXPECT_EQ(Refusal({}, int64_t{1} << 40),
            "world_size: 1099511627776 is not in 1..1048576");
  EXPECT_EQ(Refusal({{2, {}, {}}}), "rank 2 is outside of the world, 0..1");
  EXPECT_EQ(Refusal({{1, {}, {}}, {1, {}, {}}}), "rank 1 comes twice");
}

TEST(ListingTest, RefusesARegionOutsideOfTheTensor) {
  ListedTensor tensor = LowerHalf();
  tensor.regions[0].global = Box::CreateUnchecked({3, 0}, {2, 3});
  EXPECT_EQ(Refusal(tensor),
            "rank 1: tensors[0] (w/param): regions[0]: [3:5, 0:3] does not lie "
            "in the tensor, [4, 3]");
  tensor.regions[0].global = Box::CreateUnchecked({3}, {1});
  EXPECT_THAT(Refusal(tensor), HasSubstr("does not lie in the tensor"));
}

TEST(ListingTest, RefusesARegionOutsideOfTheStorage) {
  ListedTensor tensor = LowerHalf();
  tensor.regions[0].offset = 1;
  EXPECT_EQ(Refusal(tensor),
            "rank 1: tensors[0] (w/param): regions[0]: offset: 1 with strides "
            "[3, 1] puts elements at 1..6, outside of local_shape [2, 3], 6 "
            "elements");
  tensor.regions[0].offset = -1;
  EXPECT_THAT(Refusal(tensor), HasSubstr("puts elements at -1..4"));
  tensor.regions[0].offset = 0;
  tensor.regions[0].strides[0] = int64_t{1} << 62;
  EXPECT_THAT(Refusal(tensor), HasSubstr("outside of local_shape"));
  tensor.regions[0].global = Box::CreateUnchecked({0, 0}, {4, 3});
  EXPECT_THAT(Refusal(tensor), HasSubstr("goes beyond 63 bits"));
}

TEST(ListingTest, RefusesShapesThatAreNone) {
  ListedTensor tensor = LowerHalf();
  tensor.local_shape = {-2, 3};
  EXPECT_THAT(Refusal(tensor), HasSubstr("local_shape: [-2, 3] is no shape"));
  tensor.local_shape = {int64_t{1} << 62, 4};
  EXPECT_THAT(Refusal(tensor), HasSubstr("is no shape"));
}

TEST(ListingTest, RefusesRegionsThatOverlap) {
  ListedTensor tensor = Listed("w", "param", {4, 3}, {12}, {});
  tensor.regions = {Listed({2, 0}, {2, 2}, 0, {3, 1}),
                    Listed({0, 0}, {1, 3}, 0, {3, 1}),
                    Listed({3, 1}, {1, 2}, 0, {3, 1})};
  EXPECT_EQ(Refusal(tensor),
            "rank 1: tensors[0] (w/param): regions[2]: [3:4, 1:3] overlaps "
            "regions[0], [2:4, 0:2]");
}

TEST(ListingTest, RefusesTooManyRegions) {
  ListedTensor tensor = LowerHalf();
  tensor.regions.resize(kMaxListedRegions + 1, tensor.regions[0]);
  EXPECT_THAT(Refusal(tensor), HasSubstr("regions: 4097 of them; at most"));
}

TEST(ListingTest, RefusesATensorThatComesTwice) {
  ListedTensor copy = LowerHalf();
  EXPECT_THAT(Refusal({{0, {LowerHalf(), copy}, {}}}),
              HasSubstr("tensors[1] (w/param): comes twice"));
  copy.live_name = "output_layer.weight";
  EXPECT_EQ(Refusal({{0, {LowerHalf(), copy}, {}}}), "");
}

TEST(ListingTest, RefusesRanksThatDifferInWhatATensorIs) {
  EXPECT_EQ(Refusal({{0, {LowerHalf()}, {}},
                     {1, {Listed("w", "param", {8, 3}, {0}, {})}, {}}}),
            "rank 1: w/param float32 [8, 3], but on rank 0 it is w/param "
            "float32 [4, 3]");
}

TEST(ListingTest, RefusesAPlaceThatIsInNoBuffer) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  ListedTensor tensor = LowerHalf();
  tensor.buffer_offset = 5;
  EXPECT_THAT(Refusal(tensor),
              HasSubstr("buffer_offset: 5, and no buffer is named"));
  tensor.buffer = "b";
  EXPECT_EQ(Refusal(tensor), "");
  tensor.buffer_offset = -1;
  EXPECT_THAT(Refusal(tensor), HasSubstr("buffer_offset: -1 is negative"));
  tensor.buffer_offset = kMax - 6;  // it has six elements
  EXPECT_EQ(Refusal(tensor), "");
  tensor.buffer_offset = kMax - 5;
  EXPECT_THAT(Refusal(tensor), HasSubstr("its end doesn't fit 63 bits"));
}

TEST(ListingTest, RefusesBuffersThatDoNotHoldWhatTheySay) {
  ListedBuffer buffer = {"b", 8, {{0, 8, 8}}, {{"w", 0, 6}}};
  EXPECT_EQ(Refusal({{0, {}, {buffer}}}), "");
  buffer.tensors[0].end = 9;
  EXPECT_EQ(Refusal({{0, {}, {buffer}}}),
            "rank 0: buffers[0] (b): tensors[0] (w): [0, 9) does not fit the 8 "
            "elements of the buffer");
  buffer.buckets[0].unpadded = 9;
  EXPECT_THAT(Refusal({{0, {}, {buffer}}}), HasSubstr("buckets[0]: [0, 8)"));
  buffer.elements = -1;
  EXPECT_THAT(Refusal({{0, {}, {buffer}}}), HasSubstr("-1 is negative"));
}

}  // namespace
}  // namespace dynatrain::vps
