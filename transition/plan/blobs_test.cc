#include "transition/plan/blobs.h"

#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/random_case.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr BlobKind kCommon = BlobKind::kCommon;
constexpr BlobKind kCoordinate = BlobKind::kCoordinate;

PlanInput Input(const World& source, const World& target) {
  return *PlanInput::Create(source, target);
}

TEST(Blobs, CommonStaysInASurvivorAndIsDealtToJoiners) {
  const vps::Manifest model;
  const PlanInput input = Input(WorldForTest("dp2", model, {10, 20}),
                                WorldForTest("dp4", model, {20, 30, 40, 50}));
  EXPECT_EQ(BlobSource(input, kCommon, 0), 1);
  EXPECT_EQ(BlobSource(input, kCommon, 1), 1);
  EXPECT_EQ(BlobSource(input, kCommon, 2), 0);
  EXPECT_EQ(BlobSource(input, kCommon, 3), 1);
}

TEST(Blobs, CoordinateComesFromTheRankWithTheSameOneIfThereIsOne) {
  const vps::Manifest model;
  const PlanInput input =
      Input(WorldForTest("dp2,tp2", model, {10, 20, 30, 40}),
            WorldForTest("dp4,tp1", model, {10, 20, 30, 40}));
  EXPECT_EQ(BlobSource(input, kCoordinate, 0), 0);
  EXPECT_EQ(BlobSource(input, kCoordinate, 1), 2);
  EXPECT_EQ(BlobSource(input, kCoordinate, 2), std::nullopt);
  EXPECT_THAT(BlobsFrom(input, 2), ElementsAre(BlobRoute{kCommon, 2, 2},
                                               BlobRoute{kCoordinate, 2, 1}));
  EXPECT_THAT(BlobsFrom(input, 3), ElementsAre(BlobRoute{kCommon, 3, 3}));
}

TEST(Blobs, DoNotComeFromNowhere) {
  const vps::Manifest model;
  const PlanInput input = Input(World(), WorldForTest("dp2", model, {10, 20}));
  EXPECT_THAT(BlobsTo(input, 0), IsEmpty());
}

TEST(Blobs, WhatIsSentIsWhatIsReceived) {
  std::mt19937_64 random = TestRandom(42);
  for (int i = 0; i < 1000; ++i) {
    const PlanInput input = *MakeInput(RandomCase(random));
    std::vector<BlobRoute> sent, received;
    for (int rank = 0; rank < input.source().size(); ++rank) {
      for (const BlobRoute& blob : BlobsFrom(input, rank)) {
        sent.push_back(blob);
      }
    }
    for (int rank = 0; rank < input.target().size(); ++rank) {
      for (const BlobRoute& blob : BlobsTo(input, rank)) {
        received.push_back(blob);
      }
    }
    EXPECT_THAT(sent, ::testing::UnorderedElementsAreArray(received));
  }
}

}  // namespace
}  // namespace dynatrain::transition
