#include "transition/plan/stripe.h"

#include <limits>
#include <map>
#include <set>
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

struct Piece {
  Box box;
  int sender;
};

std::vector<Piece> Pieces(const Box& region, const StripeRule& rule) {
  std::vector<Piece> pieces;
  Stripe(region, rule, [&](const Box& box, int sender) {
    pieces.push_back({box, sender});
  });
  return pieces;
}

std::vector<std::string> Texts(const Box& region, const StripeRule& rule) {
  std::vector<std::string> texts;
  for (const auto& [box, sender] : Pieces(region, rule)) {
    texts.push_back(absl::StrCat(box.DebugString(), " ", sender));
  }
  return texts;
}

TEST(Stripe, CutsALargeRegionAlongRowsAmongAll) {
  EXPECT_THAT(Texts(*Box::Whole({64, 4}),
                    {.num_senders = 3, .item_bytes = 4, .stripe_bytes = 16}),
              ElementsAre("[0:22, 0:4] 0", "[22:43, 0:4] 1", "[43:64, 0:4] 2"));
}

TEST(Stripe, CutsTheLongestDimIfRowsAreTooFew) {
  EXPECT_THAT(Texts(*Box::Whole({3, 8}), {.num_senders = 2}),
              ElementsAre("[0:3, 0:4] 0", "[0:3, 4:8] 1"));
}

TEST(Stripe, GivesSmallRegionsWholeInTurns) {
  for (int turn = 0; turn < 5; ++turn) {
    EXPECT_THAT(Texts(*Box::Whole({4}),
                      {.num_senders = 3, .stripe_bytes = 100, .turn = turn}),
                ElementsAre(absl::StrCat("[0:4] ", turn % 3)));
  }
}

TEST(Stripe, LetsReplicasStartAtDifferentSenders) {
  std::vector<int> load(4);
  for (int replica = 0; replica < 2; ++replica) {
    for (const auto& [box, sender] :
         Pieces(*Box::Whole({100}), {.num_senders = 4,
                                    .item_bytes = 1,
                                    .stripe_bytes = 50,
                                    .turn = 3,
                                    .replica = replica})) {
      load[sender] += box.num_elements();
    }
  }
  EXPECT_THAT(load, ElementsAre(50, 50, 50, 50));
}

TEST(Stripe, DoesNotCutAScalar) {
  EXPECT_THAT(Texts(Box(), {.num_senders = 7, .item_bytes = 16}),
              ElementsAre("[] 0"));
}

TEST(Stripe, CoversExactlyWithOnePieceASender) {
  std::mt19937_64 random = TestRandom(40);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 5000; ++i) {
    std::vector<int64_t> origin, shape;
    for (int64_t dims = pick(0, 4); dims > 0; --dims) {
      origin.push_back(pick(0, 100));
      shape.push_back(pick(1, 40));
    }
    const Box region = *Box::Create(origin, shape);
    const StripeRule rule = {
        .num_senders = static_cast<int>(pick(1, 9)),
        .item_bytes = 4,
        .stripe_bytes = pick(1, 200),
        .turn = pick(0, std::numeric_limits<int64_t>::max()),
        .replica = pick(0, 1 << 20)};
    std::vector<Box> boxes;
    std::set<int> senders;
    for (const auto& [box, sender] : Pieces(region, rule)) {
      boxes.push_back(box);
      EXPECT_TRUE(senders.insert(sender).second);
      EXPECT_GE(sender, 0);
      EXPECT_LT(sender, rule.num_senders);
    }
    EXPECT_TRUE(vps::CheckExactCover(region, boxes).ok()) << region;
  }
}

}  // namespace
}  // namespace dynatrain::transition
