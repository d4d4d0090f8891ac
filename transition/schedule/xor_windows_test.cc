#include "transition/schedule/xor_windows.h"

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic.h"
#include "transition/schedule/traffic_patterns.h"

namespace dynatrain::transition {
namespace {

TEST(XorWindowsTest, APairHasOneStepAndARankOnePeerPerStep) {
  for (const int block : {1, 2, 3, 6, 8}) {
    for (int rank = 0; rank < 50; ++rank) {
      std::set<int> steps;
      for (int peer = 0; peer < 50; ++peer) {
        EXPECT_EQ(XorStep(rank, peer, block), XorStep(peer, rank, block));
        EXPECT_EQ(XorStep(rank, peer, block) / PaddedBlock(block),
                  XorWindow(rank, peer, block));
        steps.insert(XorStep(rank, peer, block));
      }
      EXPECT_EQ(steps.size(), 50);
    }
  }
}

TEST(XorWindowsTest, WindowZeroIsInsideBlocksAlsoOfSix) {
  EXPECT_EQ(XorWindow(0, 5, 6), 0);
  EXPECT_EQ(XorWindow(5, 6, 6), 1);
  EXPECT_EQ(XorWindow(7, 17, 6), 3);
}

// In each window of plain steps a block of ranks talks with one block alone.
TEST(XorWindowsTest, AWindowIsClosedBetweenTwoBlocks) {
  for (const int block : {3, 4, 8}) {
    const Schedule schedule =
        XorSchedule(UniformTraffic(50, 100), {.block_ranks = block});
    for (int window = 0; window < schedule.num_windows(); ++window) {
      std::map<int, std::set<int>> peers;
      for (const Parcel& parcel : schedule.window(window)) {
        peers[parcel.sender / block].insert(parcel.receiver / block);
      }
      for (const auto& [own, others] : peers) {
        EXPECT_EQ(others.size(), 1) << "block " << own << " in " << window;
      }
    }
  }
}

TEST(XorWindowsTest, CutsWhereAGroupWouldBeTooLarge) {
  const Traffic traffic = UniformTraffic(64, 1000);
  const Schedule schedule = XorSchedule(
      traffic,
      {.block_ranks = 64, .max_operations = 10, .max_pair_bytes = 300});
  EXPECT_TRUE(CheckMoves(schedule, traffic).ok())
      << CheckMoves(schedule, traffic);
  EXPECT_EQ(MaxWindowOperations(schedule, 64), 10);
  for (const Parcel& parcel : schedule.parcels) EXPECT_LE(parcel.bytes, 300);
}

TEST(XorWindowsTest, MovesAllOfAnyTrafficWithinTheLimits) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 100; ++i) {
    const Traffic traffic = RandomSkewedTraffic(40, random);
    const XorOptions options = {
        .block_ranks = 1 + static_cast<int>(random() % 20),
        .max_operations = 2 + static_cast<int>(random() % 20),
        .max_pair_bytes = 1 + traffic.total_bytes() / 100};
    const Schedule schedule = XorSchedule(traffic, options);
    ASSERT_TRUE(CheckMoves(schedule, traffic).ok())
        << CheckMoves(schedule, traffic);
    EXPECT_LE(MaxWindowOperations(schedule, traffic.num_ranks()),
              options.max_operations);
    const Schedule order = XorOrder(traffic, options.block_ranks);
    ASSERT_TRUE(CheckMoves(order, traffic).ok()) << CheckMoves(order, traffic);
    EXPECT_FALSE(order.windowed());
  }
}

// What a rank needs to know of the schedule is its own peers.
TEST(XorWindowsTest, ARanksOrderDependsOnItsOwnFlowsAlone) {
  std::mt19937_64 random = TestRandom(2);
  const Traffic traffic = RandomSkewedTraffic(40, random);
  const XorOptions options = {.block_ranks = 4,
                              .max_pair_bytes = traffic.total_bytes() / 9 + 1};
  const auto of_rank = [](const Schedule& schedule, int rank) {
    std::vector<Parcel> parcels;
    for (const Parcel& it : schedule.parcels) {
      if (it.sender == rank || it.receiver == rank) parcels.push_back(it);
    }
    return parcels;
  };
  const Schedule whole = XorSchedule(traffic, options);
  for (int rank = 0; rank < traffic.num_ranks(); ++rank) {
    const Traffic own = traffic.Filter([&](const Flow& flow) {
      return flow.sender == rank || flow.receiver == rank;
    });
    EXPECT_EQ(of_rank(XorSchedule(own, options), rank), of_rank(whole, rank));
  }
}

}  // namespace
}  // namespace dynatrain::transition
