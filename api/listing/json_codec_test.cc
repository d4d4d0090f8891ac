#include "api/listing/json_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "vps/layout/listing/listing_testutil.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

vps::Listing Example() {
  vps::ListedTensor weight =
      vps::Listed("w", "param", {8, 3}, {2, 3},
                  {vps::Listed({2, 0}, {1, 3}, 0, {3, 1}),
                   vps::Listed({6, 0}, {1, 3}, 3, {3, 1})});
  weight.live_name = "0/w";
  // A vocabulary of 7 rows, padded to 8.
  weight.spec = *vps::TensorSpec::Create("w", "param", vps::Dtype::kFloat32,
                                         {8, 3}, /*pad_from=*/7);
  const vps::ListedTensor step =
      vps::Listed("w", "step", {}, {}, {vps::Listed({}, {}, 0, {})});
  const vps::ListedBuffer buffer = {
      "0/dense/float32", 128, {{0, 128, 6}}, {{"0/w", 0, 6}}};
  return *vps::Listing::Create("megatron", "0.16.1", 4,
                               {{0, {}, {}}, {1, {weight, step}, {buffer}}});
}

TEST(ListingCodecTest, TextIsOneLinePerTensor) {
  EXPECT_EQ(
      EncodeListing(Example()),
      R"({"version": 1, "framework": "megatron", "framework_version": "0.16.1", "world_size": 4, "ranks": [
{"rank": 0, "tensors": [], "buffers": []},
{"rank": 1, "tensors": [
{"name":"w","live_name":"0/w","state":"param","dtype":"float32","shape":[8,3],"local_shape":[2,3],"pad_from":7,"regions":[{"origin":[2,0],"shape":[1,3],"offset":0,"strides":[3,1]},{"origin":[6,0],"shape":[1,3],"offset":3,"strides":[3,1]}]},
{"name":"w","live_name":"","state":"step","dtype":"float32","shape":[],"local_shape":[],"regions":[{"origin":[],"shape":[],"offset":0,"strides":[]}]}], "buffers": [
{"name":"0/dense/float32","elements":128,"buckets":[{"begin":0,"end":128,"unpadded":6}],"tensors":[{"live_name":"0/w","begin":0,"end":6}]}]}]}
)");
}

TEST(ListingCodecTest, DecodingIsTheInverseOfEncoding) {
  EXPECT_EQ(*DecodeListing(EncodeListing(Example())), Example());
}

constexpr char kSmall[] = R"({
  "version": 1, "framework": "torch", "world_size": 2, "more": [{"a": 1}],
  "ranks": [
    {"tensors": [
       {"name": "w", "state": "param", "dtype": "float32", "shape": [4, 3],
        "local_shape": [2, 3], "values": [0, 6],
        "regions": [{"origin": [2, 0], "shape": [2, 3]}]}],
     "groups": {"tensors": [{"x": [{}]}]},
     "rank": 1}]})";

TEST(ListingCodecTest, WhatIsNotKnownIsPassedOverAndOrderDoesNotMatter) {
  const vps::Listing listing = *DecodeListing(kSmall);
  ASSERT_EQ(listing.ranks().size(), 1);
  EXPECT_EQ(listing.ranks()[0].rank, 1);
  const vps::ListedTensor& tensor = listing.ranks()[0].tensors.at(0);
  EXPECT_EQ(tensor.regions.at(0), vps::Listed({2, 0}, {2, 3}, 0, {3, 1}))
      << "strides of the row-major local tensor";
}

TEST(ListingCodecTest, ALocalShapeMayHaveMoreDimsThanABox) {
  const std::string text = absl::StrReplaceAll(
      kSmall, {{"\"local_shape\": [2, 3]",
                "\"local_shape\": [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3]"},
               {"\"origin\": [2, 0]",
                "\"strides\": [3, 1], \"origin\": "
                "[2, 0]"}});
  const auto listing = DecodeListing(text);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->ranks()[0].tensors[0].regions[0].strides,
            (vps::Strides{3, 1}));
}

struct Refused {
  const char* was;
  const char* is;
  const char* message;
};

TEST(ListingCodecTest, RefusesNamingThePlace) {
  const Refused cases[] = {
      {"\"version\": 1", "\"version\": 2",
       "version: 2 is not an integer in [1, 1]"},
      {"\"version\": 1,", "", "version is missing"},
      {"\"world_size\": 2", "\"world_size\": 0", "world_size: 0 is not"},
      {"\"world_size\": 2", "\"world_size\": 1", "rank 1 is outside"},
      {"\"ranks\": [", "\"ranks\": [7, ", "ranks: [7] has no objects only"},
      {"\"rank\": 1", "\"rank\": -1", "ranks[0].rank: -1 is not"},
      {"\"rank\": 1", "\"rnak\": 1",
       "ranks[0].rank is missing; is \"rnak\" what was meant?"},
      {"\"tensors\": [\n", "\"tensors\": [3,\n",
       "ranks[0].tensors: [3] has no objects only"},
      {"float32", "float31", "ranks[0].tensors[0].dtype: "},
      {"\"name\": \"w\"", "\"name\": \"\"", "ranks[0].tensors[0]: "},
      {"\"name\": \"w\"", "\"nmae\": \"w\"",
       "ranks[0].tensors[0].name is missing; is \"nmae\" what was meant?"},
      {"\"shape\": [4, 3]", "\"shape\": [4, -3]",
       "ranks[0].tensors[0].shape: [4,-3] is not a list of integers"},
      {"\"shape\": [4, 3]", "\"shape\": [9223372036854775807, 3]",
       "ranks[0].tensors[0]: "},
      {"\"local_shape\": [2, 3]", "\"local_shape\": [6]",
       "regions[0].strides: absent, and 1 dims in local_shape"},
      {"\"origin\": [2, 0]", "\"origin\": [3, 0]",
       "rank 1: tensors[0] (w/param): regions[0]: [3:5, 0:3] does not lie"},
      {"\"origin\": [2, 0]", "\"origin\": [2]", "regions[0].origin: "},
      {"\"origin\": [2, 0]",
       "\"origin\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
       "regions[0].origin: "},
      {"\"origin\": [2, 0]", "\"strides\": [1], \"origin\": [2, 0]",
       "regions[0].strides: there are 1, not one per dim of the 2"},
      {"\"local_shape\"", "\"buffer_offset\": 3, \"local_shape\"",
       "rank 1: tensors[0] (w/param): buffer_offset: 3, and no buffer is "
       "named"},
      {"\"rank\": 1}", "\"rank\": 1", "not JSON: parse error at line 9"},
      {"\"values\": [0, 6]", "\"values\": [[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]",
       "nested too deep"},
  };
  for (const Refused& c : cases) {
    const std::string text = absl::StrReplaceAll(kSmall, {{c.was, c.is}});
    ASSERT_NE(text, kSmall) << c.was;
    const absl::Status status = DecodeListing(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.is;
    EXPECT_THAT(std::string(status.message()),
                testing::AllOf(StartsWith("listing: "), HasSubstr(c.message)));
  }
  for (const char* text : {"", "[]", "3", "null", "{}"}) {
    EXPECT_FALSE(DecodeListing(text).ok()) << text;
  }
}

TEST(ListingCodecTest, BuffersAreCheckedToo) {
  std::string text = EncodeListing(Example());
  text = absl::StrReplaceAll(text, {{"\"unpadded\":6", "\"unpaded\":6"}});
  EXPECT_THAT(std::string(DecodeListing(text).status().message()),
              HasSubstr("ranks[1].buffers[0].buckets[0].unpadded is missing; "
                        "is \"unpaded\" what was meant?"));
}

}  // namespace
}  // namespace dynatrain::api
