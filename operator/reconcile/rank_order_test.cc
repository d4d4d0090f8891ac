#include "operator/reconcile/rank_order.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;

std::string Manifest(int tensors = 1) {
  std::string text = R"({"version":1,"tensors":[)";
  for (int i = 0; i < tensors; ++i) {
    absl::StrAppend(
        &text, i == 0 ? "" : ",", R"({"name":"w)", i,
        R"(","state":"param","dtype":"float32","shape":[8,8],)",
        R"("splits":[{"axis":"tp","dim":0},{"axis":"dp","dim":0}]})");
  }
  return text + "]}";
}

TEST(RankOrderTest, MembersGoWhereWhatTheyHoldIsWanted) {
  // Rank (dp, tp) of the target holds quarter 2 tp + dp.
  EXPECT_THAT(OrderThatKeepsMost(Manifest(), {{4, 5, 6, 7}, "dp1,tp4"},
                                 {{4, 5, 6, 7}, "dp2,tp2"}, 1),
              ElementsAre(4, 6, 5, 7));
}

TEST(RankOrderTest, TheGivenOrderStaysIfNoneKeepsMore) {
  EXPECT_THAT(OrderThatKeepsMost(Manifest(), {{3, 1}, "dp2,tp1"},
                                 {{3, 1, 2}, "dp3,tp1"}, 1),
              ElementsAre(3, 1, 2));
  EXPECT_THAT(OrderThatKeepsMost(Manifest(), {{0, 1}, "dp2,tp1"},
                                 {{0, 1}, "dp2,tp1"}, 1),
              ElementsAre(0, 1));
}

TEST(RankOrderTest, AJoinerMayTakeAnyPlace) {
  // Who stays held the second half.
  EXPECT_THAT(OrderThatKeepsMost(Manifest(), {{0, 1}, "dp1,tp2"},
                                 {{1, 2}, "dp1,tp2"}, 1),
              ElementsAre(2, 1));
}

TEST(RankOrderTest, MembersOfSeveralRanksStayWhole) {
  // Pods of two ranks hold halves; now each half is a pair of dp ranks.
  EXPECT_THAT(OrderThatKeepsMost(Manifest(), {{0, 1}, "dp1,tp4"},
                                 {{0, 1}, "dp4,tp1"}, 2),
              ElementsAre(0, 1));
  EXPECT_THAT(OrderThatKeepsMost(Manifest(), {{1, 0}, "dp1,tp4"},
                                 {{0, 1}, "dp4,tp1"}, 2),
              ElementsAre(1, 0));
}

TEST(RankOrderTest, WhatCantBeToldChangesNothing) {
  const MemberWorld from = {{0, 1, 2, 3}, "dp1,tp4"};
  const MemberWorld to = {{0, 1, 2, 3}, "dp2,tp2"};
  EXPECT_EQ(OrderThatKeepsMost("", from, to, 1), to.members);
  EXPECT_EQ(OrderThatKeepsMost("no json", from, to, 1), to.members);
  EXPECT_EQ(OrderThatKeepsMost(Manifest(), {}, to, 1), to.members);
  EXPECT_EQ(OrderThatKeepsMost(Manifest(), from, {to.members, "dp3"}, 1),
            to.members);
}

TEST(RankOrderTest, LargeWorldsAreLeftAsTheyAre) {
  std::vector<uint32_t> many(513);
  for (uint32_t i = 0; i < many.size(); ++i) many[i] = i;
  std::vector<uint32_t> turned(many.rbegin(), many.rend());
  EXPECT_EQ(
      OrderThatKeepsMost(Manifest(), {many, "dp513"}, {turned, "dp513"}, 1),
      turned);
}

}  // namespace
}  // namespace dynatrain::control
