#include "vps/layout/listing/copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vps/geometry/box.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Copies = std::vector<std::vector<int>>;

// Of [size], from `begin` to `end`.
CopyPart Part(int rank, int64_t begin, int64_t end, std::string name = "") {
  return {
      {Box::CreateUnchecked({begin}, {end - begin})}, {rank}, std::move(name)};
}

Copies CopiesOfLine(int64_t size, const std::vector<CopyPart>& parts) {
  return *CopiesOf(*Box::Whole({size}), parts);
}

std::string Refusal(const Box& whole, const std::vector<CopyPart>& parts) {
  return std::string(CopiesOf(whole, parts).status().message());
}

TEST(CopiesTest, PartsThatTileTheWholeAreOneCopy) {
  EXPECT_THAT(CopiesOfLine(4, {Part(0, 2, 4), Part(1, 0, 2)}),
              ElementsAre(ElementsAre(0, 1)));
}

TEST(CopiesTest, AsManyElementsAsTheWholeAreNotAlwaysTheWhole) {
  EXPECT_EQ(Refusal(*Box::Whole({4}), {Part(0, 0, 2), Part(1, 1, 3)}),
            "no rank lists elements [3:4]");
}

TEST(CopiesTest, ARankHasOnePartOfACopy) {
  EXPECT_THAT(CopiesOfLine(4, {Part(0, 0, 2), Part(0, 2, 4), Part(1, 2, 4),
                               Part(2, 0, 2)}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(CopiesTest, ARankHasOnePartAlsoOfTheOnlyCopy) {
  EXPECT_EQ(
      Refusal(*Box::Whole({4}), {Part(3, 0, 2), Part(3, 2, 4)}),
      "rank 3: what is listed, from [2:4] on, makes up no whole copy with "
      "what other ranks list");
}

TEST(CopiesTest, PartsOfOneNameGoTogether) {
  EXPECT_THAT(CopiesOfLine(4, {Part(0, 0, 2, "in"), Part(1, 0, 2, "out"),
                               Part(2, 2, 4, "out"), Part(3, 2, 4, "in")}),
              ElementsAre(ElementsAre(0, 3), ElementsAre(1, 2)));
}

TEST(CopiesTest, CopiesAreInTheOrderOfTheirFirstParts) {
  EXPECT_THAT(CopiesOfLine(4, {Part(0, 0, 4, "named"), Part(1, 0, 4)}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

// The last one begins where the others end, and goes over them.
TEST(CopiesTest, PartsOfACopyDoNotOverlap) {
  const auto part = [](int rank, Box box) {
    return CopyPart{{box}, {rank}, ""};
  };
  EXPECT_THAT(Refusal(*Box::Whole({2, 3}),
                      {part(0, Box::CreateUnchecked({0, 0}, {1, 2})),
                       part(1, Box::CreateUnchecked({0, 2}, {2, 1})),
                       part(2, Box::CreateUnchecked({1, 0}, {1, 3}))}),
              HasSubstr("rank 2: what is listed, from [1:2, 0:3] on"));
}

}  // namespace
}  // namespace dynatrain::vps
