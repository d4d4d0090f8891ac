#include "vps/layout/deepspeed/zero_partition.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// tests/oracle_deepspeed compares the same arithmetic with DeepSpeed itself.
TEST(ZeroPartition, RoundRobinTakesEachRanksParametersTogether) {
  EXPECT_THAT(RoundRobinOrder(5, 2), ElementsAre(0, 2, 4, 1, 3));
  EXPECT_THAT(RoundRobinOrder(2, 4), ElementsAre(0, 1));
  EXPECT_THAT(RoundRobinOrder(3, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(RoundRobinOrder(0, 2), IsEmpty());
}

TEST(ZeroPartition, AGroupIsPaddedToTwiceTheRanks) {
  const FlatRun run = *LayZeroGroup({7, 4}, 1, 2);
  EXPECT_THAT(run.positions, ElementsAre(0, 7));
  EXPECT_EQ(run.shard, 6);
  EXPECT_EQ(LayZeroGroup({12}, 1, 2)->shard, 6);
  EXPECT_EQ(LayZeroGroup({1}, 1, 4)->shard, 2);
}

TEST(ZeroPartition, ParametersMayBeAligned) {
  const FlatRun run = *LayZeroGroup({7, 1, 4}, 4, 3);
  EXPECT_THAT(run.positions, ElementsAre(0, 8, 12));
  EXPECT_EQ(run.shard, 6);  // 16, padded to 18
}

TEST(ZeroPartition, RefusesWhatIsEmptyOrTooLarge) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(std::string(LayZeroGroup({}, 1, 2).status().message()),
              HasSubstr("no elements"));
  for (const std::vector<int64_t>& elements :
       {std::vector<int64_t>{kMax, 1}, std::vector<int64_t>{kMax}}) {
    EXPECT_THAT(std::string(LayZeroGroup(elements, 1, 2).status().message()),
                HasSubstr("63 bits"));
  }
}

TEST(ZeroPartition, AShardIsTheCeiling) {
  EXPECT_EQ(ZeroShard(10, 4), 3);
  EXPECT_EQ(ZeroShard(8, 4), 2);
  EXPECT_EQ(ZeroShard(1, 4), 1);
  EXPECT_EQ(ZeroShard(0, 4), 0);
}

TEST(ZeroPartition, ASubGroupIsClosedByTheParameterThatFillsIt) {
  EXPECT_THAT(ZeroSubGroups({5, 5, 3, 9}, 8), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(ZeroSubGroups({5, 3, 1}, 8), ElementsAre(0, 0, 1));
  EXPECT_THAT(ZeroSubGroups({5, 5, 3, 9}, 1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ZeroSubGroups({5, 5, 3, 9}, 22), ElementsAre(0, 0, 0, 0));
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(ZeroSubGroups({kMax - 1, kMax}, kMax), ElementsAre(0, 0));
}

}  // namespace
}  // namespace dynatrain::vps
