#include "transition/schedule/port_model.h"

#include <random>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/schedule/lower_bounds.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic_patterns.h"
#include "transition/schedule/xor_windows.h"

namespace dynatrain::transition {
namespace {

// XOR is exact where all is equal and ranks are a power of two; 48 ranks
// have 63 steps where 47 would do (the founders' study: 1.34).
TEST(PortModelTest, XorOnUniformTraffic) {
  EXPECT_EQ(
      OrderedMakespan(XorOrder(UniformTraffic(64, 10), 1), PortMap::Own(64)),
      630);
  EXPECT_EQ(
      OrderedMakespan(XorOrder(UniformTraffic(48, 10), 1), PortMap::Own(48)),
      630);
}

TEST(PortModelTest, WindowsOfBlocksAreExactOnUniformTraffic) {
  const Schedule schedule =
      XorSchedule(UniformTraffic(64, 10), {.block_ranks = 8});
  EXPECT_EQ(schedule.num_windows(), 8);
  EXPECT_EQ(WindowedMakespan(schedule, PortMap::Own(64)), 630);
}

//  window 0: 0 -> 1 (9) and 2 -> 3 (1); window 1: 2 -> 3 (1), 0 -> 1 (1).
TEST(PortModelTest, ComponentsOfAWindowDontWaitForEachOther) {
  const Schedule schedule = {
      {{0, 1, 0, 9}, {2, 3, 0, 1}, {0, 1, 9, 1}, {2, 3, 1, 20}}, {0, 2}};
  EXPECT_EQ(WindowedMakespan(schedule, PortMap::Own(4)), 21);
}

// A component ends as one: 1 -> 2 makes 0 wait too, since 0 -> 1 is in the same
// group.
TEST(PortModelTest, AComponentEndsTogether) {
  const Schedule schedule = {{{0, 1, 0, 2}, {1, 2, 0, 5}, {0, 3, 0, 7}},
                             {0, 2}};
  EXPECT_EQ(WindowedMakespan(schedule, PortMap::Own(4)), 5 + 7);
}

// And waits for the last of its ranks: 0 for 2, which is busy before.
TEST(PortModelTest, AComponentStartsTogether) {
  const Schedule schedule = {
      {{2, 3, 0, 5}, {0, 1, 0, 1}, {1, 2, 0, 1}, {0, 4, 0, 10}}, {0, 1, 3}};
  EXPECT_EQ(WindowedMakespan(schedule, PortMap::Own(5)), 5 + 1 + 10);
}

TEST(PortModelTest, NoScheduleBeatsTheBound) {
  std::mt19937_64 random = TestRandom(5);
  for (int i = 0; i < 100; ++i) {
    const Traffic traffic = RandomSkewedTraffic(24, random);
    const PortMap ranks = PortMap::Own(traffic.num_ranks());
    const int64_t bound = RankBound(traffic);
    const Schedule order = XorOrder(traffic, 4);
    EXPECT_GE(OrderedMakespan(order, ranks), bound);
    EXPECT_GE(OrderedMakespan(order, ranks, {3, bound / 8 + 1}), bound);
    EXPECT_GE(WindowedMakespan(XorSchedule(traffic, {.block_ranks = 4}), ranks),
              bound);
  }
}

// Slots don't matter where they are taken strictly in order.
TEST(PortModelTest, SlotsChangeNothingWithOneCredit) {
  std::mt19937_64 random = TestRandom(6);
  for (int i = 0; i < 30; ++i) {
    const Traffic traffic = RandomSkewedTraffic(24, random);
    const PortMap ranks = PortMap::Own(traffic.num_ranks());
    const Schedule order = XorOrder(traffic, 1);
    EXPECT_EQ(
        OrderedMakespan(order, ranks),
        OrderedMakespan(order, ranks, {1, traffic.total_bytes() / 300 + 1}));
  }
}

}  // namespace
}  // namespace dynatrain::transition
