#include "transition/plan/stripe.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/region.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using vps::Box;

// Of a region that has the bytes begin..end-1 of a line.
struct Place {
  int64_t begin;
  int64_t end;
  int64_t line;
};

std::vector<std::string> Texts(const Box& region, const Place& place,
                               int parts) {
  std::vector<std::string> texts;
  Stripe(region, {place.begin, place.end}, Division::Equal(place.line, parts),
         [&](const Box& piece, int part) {
           texts.push_back(absl::StrCat(piece.DebugString(), " ", part));
         });
  return texts;
}

TEST(Stripe, CutsATensorThatIsAloneOnItsLineEvenly) {
  EXPECT_THAT(Texts(*Box::Whole({64, 4}), {0, 1024, 1024}, 3),
              ElementsAre("[0:21, 0:4] 0", "[21:43, 0:4] 1", "[43:64, 0:4] 2"));
}

TEST(Stripe, CutsTheLongestDimIfRowsAreFew) {
  EXPECT_THAT(Texts(*Box::Whole({3, 8}), {0, 96, 96}, 2),
              ElementsAre("[0:3, 0:4] 0", "[0:3, 4:8] 1"));
}

TEST(Stripe, CutsOnlyWhereThePartsOfTheLineMeet) {
  // Three equal tensors, two senders: the middle one is cut.
  EXPECT_THAT(Texts(*Box::Whole({8}), {0, 32, 96}, 2), ElementsAre("[0:8] 0"));
  EXPECT_THAT(Texts(*Box::Whole({8}), {32, 64, 96}, 2),
              ElementsAre("[0:4] 0", "[4:8] 1"));
  EXPECT_THAT(Texts(*Box::Whole({8}), {64, 96, 96}, 2), ElementsAre("[0:8] 1"));
}

TEST(Stripe, GivesAScalarToOneSender) {
  EXPECT_THAT(Texts(Box(), {0, 4, 4}, 4), ElementsAre("[] 2"));
  EXPECT_THAT(Texts(*Box::Whole({1, 1}), {4, 8, 8}, 2),
              ElementsAre("[0:1, 0:1] 1"));
}

TEST(Stripe, StandsALineWithoutBytes) {
  // Rank 0's part is empty, another's is not.
  EXPECT_THAT(Texts(*Box::Whole({5}), {0, 0, 0}, 3), ElementsAre("[0:5] 0"));
}

TEST(Stripe, DoesNotOverflow) {
  const int64_t max = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Texts(*Box::Whole({max}), {0, max, max}, 1024).size(), 1024);
}

// Random lines of random tensors: each tensor is covered exactly, parts ascend
// along the line, and no part is further from its share than cuts round.
TEST(Stripe, SharesLinesEqually) {
  std::mt19937_64 random = TestRandom(40);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 300; ++i) {
    std::vector<Box> tensors;
    int64_t line_bytes = 0, longest = 0;
    for (int64_t n = pick(1, 30); n > 0; --n) {
      std::vector<int64_t> shape;
      for (int64_t dims = pick(0, 3); dims > 0; --dims) {
        shape.push_back(pick(1, 30));
      }
      tensors.push_back(*Box::Whole(shape));
      line_bytes += tensors.back().num_elements();
      longest = std::max(longest, tensors.back().num_elements());
    }
    const int parts = static_cast<int>(pick(1, 9));
    std::vector<int64_t> sent(parts);
    int64_t begin = 0;
    int last = 0;
    for (const Box& tensor : tensors) {
      const int64_t end = begin + tensor.num_elements();
      std::vector<Box> pieces;
      Stripe(tensor, {begin, end}, Division::Equal(line_bytes, parts),
             [&](const Box& piece, int part) {
               ASSERT_GE(part, last);
               ASSERT_LT(part, parts);
               last = part;
               pieces.push_back(piece);
               sent[part] += piece.num_elements();
             });
      EXPECT_TRUE(vps::CheckExactCover(tensor, pieces).ok()) << tensor;
      begin = end;
    }
    for (int64_t elements : sent) {
      // A cut may be off by half an index of the dim it cuts at both ends,
      // which is at most the whole of a tensor of one element per dim.
      EXPECT_NEAR(elements, line_bytes / parts, longest / 2 + 2);
    }
  }
}

TEST(DivisionTest, EmptyPartsHaveNoByteNotEvenTheFirst) {
  const std::vector<int64_t> cuts = {0, 0, 8, 8};
  const Division division = Division::At(cuts);
  EXPECT_EQ(division.PartAt(0), 1);
  EXPECT_EQ(division.PartAt(7), 1);
  const Box one = Box::Whole({1}).value();
  EXPECT_EQ(OnlyPart(one, {0, 1}, division), 1);
}

}  // namespace
}  // namespace dynatrain::transition
