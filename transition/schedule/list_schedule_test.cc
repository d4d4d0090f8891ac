#include "transition/schedule/list_schedule.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/schedule/lower_bounds.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/port_model.h"
#include "transition/schedule/traffic_patterns.h"
#include "transition/schedule/xor_windows.h"

namespace dynatrain::transition {
namespace {

// Each port does one parcel at a time, and order and times agree.
void ExpectNoPortIsUsedTwice(const ListSchedule& list, const PortMap& ports) {
  std::vector<int64_t> out_free(ports.num_ports);
  std::vector<int64_t> in_free(ports.num_ports);
  for (const TimedParcel& it : list.parcels) {
    int64_t& out = out_free[ports[it.parcel.sender]];
    int64_t& in = in_free[ports[it.parcel.receiver]];
    ASSERT_LE(out, it.begin) << it.parcel;
    ASSERT_LE(in, it.begin) << it.parcel;
    ASSERT_LT(it.begin, it.end) << it.parcel;
    out = in = it.end;
  }
}

struct Ratios {
  double xor_order = 0;  // each over the lower bound of the port model
  double list = 0;
  double two_credits = 0;
  double eight_credits = 0;
  double windows = 0;
};

// Makes and checks all forms of a list schedule.
Ratios Measure(const Traffic& traffic, const ListOptions& options) {
  const PortMap ranks = PortMap::Own(traffic.num_ranks());
  const int64_t bound = RankBound(traffic);
  const ListSchedule list = MakeListSchedule(traffic, options);
  const Schedule order = OrderOf(list);
  const Schedule windows =
      CutIntoWindows(list, {.max_port_bytes = bound / 8 + 1});
  EXPECT_TRUE(CheckMoves(order, traffic).ok()) << CheckMoves(order, traffic);
  EXPECT_TRUE(CheckMoves(windows, traffic).ok())
      << CheckMoves(windows, traffic);
  EXPECT_LE(MaxWindowOperations(windows, traffic.num_ranks()), 256);
  ExpectNoPortIsUsedTwice(list, ranks);
  const int64_t slot_bytes = bound / 256 + 1;
  const auto ratio = [&](int64_t makespan) {
    return static_cast<double>(makespan) / static_cast<double>(bound);
  };
  return {ratio(OrderedMakespan(XorOrder(traffic, 1), ranks)),
          ratio(OrderedMakespan(order, ranks)),
          ratio(OrderedMakespan(order, ranks, {2, slot_bytes})),
          ratio(OrderedMakespan(order, ranks, {8, slot_bytes})),
          ratio(WindowedMakespan(windows, ranks))};
}

// G11: the limit is 1.03, with any credits and cut into windows; the
// schedule itself keeps its slack of 1 %.
void ExpectGoalIsMet(const Ratios& ratios) {
  EXPECT_LE(ratios.list, 1.0101);
  EXPECT_LE(ratios.two_credits, 1.03);
  EXPECT_LE(ratios.eight_credits, 1.03);
  EXPECT_LE(ratios.windows, 1.03);
}

TEST(ListScheduleTest, MeetsTheGoalOnThePatternsOfTheStudy) {
  ASSERT_EQ(StudyPatterns(1 << 20).size(), 17);
  for (const NamedTraffic& it : StudyPatterns(1 << 20)) {
    SCOPED_TRACE(it.name);
    const Ratios ratios = Measure(it.traffic, {});
    std::printf(
        "%-30s xor %.3f  list %.4f  2 credits %.4f  8 %.4f  "
        "windows %.4f\n",
        it.name.c_str(), ratios.xor_order, ratios.list, ratios.two_credits,
        ratios.eight_credits, ratios.windows);
    ExpectGoalIsMet(ratios);
  }
}

TEST(ListScheduleTest, MeetsTheGoalOnRandomSkewedTraffic) {
  std::mt19937_64 random = TestRandom(7);
  const int cases = std::getenv("DYNATRAIN_LONG") != nullptr ? 5000 : 200;
  int other_sizes = 0;  // than powers of two
  Ratios worst;
  for (int i = 0; i < cases;) {
    SCOPED_TRACE(i);
    const Traffic traffic = RandomSkewedTraffic(64, random);
    if (traffic.flows().empty()) continue;
    ++i;
    other_sizes +=
        !std::has_single_bit(static_cast<unsigned>(traffic.num_ranks()));
    const Ratios ratios = Measure(traffic, {.unit_bytes = 1});
    ExpectGoalIsMet(ratios);
    worst.xor_order = std::max(worst.xor_order, ratios.xor_order);
    worst.list = std::max(worst.list, ratios.list);
    worst.eight_credits = std::max(worst.eight_credits, ratios.eight_credits);
    worst.windows = std::max(worst.windows, ratios.windows);
  }
  std::printf(
      "%d random, %d not of a power of two ranks; worst: xor %.3f  "
      "list %.4f  8 credits %.4f  windows %.4f\n",
      cases, other_sizes, worst.xor_order, worst.list, worst.eight_credits,
      worst.windows);
  EXPECT_GT(other_sizes, cases / 2);
}

TEST(ListScheduleTest, WithoutSlackItIsExact) {
  for (const NamedTraffic& it : StudyPatterns(1 << 12)) {
    const ListSchedule list =
        MakeListSchedule(it.traffic, {.slack_ppm = 0, .unit_bytes = 1});
    EXPECT_EQ(list.makespan_units, RankBound(it.traffic)) << it.name;
  }
}

TEST(ListScheduleTest, ParcelsAreFew) {
  for (const NamedTraffic& it : StudyPatterns(1 << 20)) {
    const ListSchedule list = MakeListSchedule(it.traffic);
    const int64_t flows = static_cast<int64_t>(it.traffic.flows().size());
    EXPECT_LE(list.parcels.size(), flows + list.num_preemptions) << it.name;
    EXPECT_LE(list.num_preemptions, flows / 8) << it.name;
  }
}

TEST(ListScheduleTest, ParcelsBeginAtUnits) {
  std::mt19937_64 random = TestRandom(8);
  const Traffic traffic = RandomSkewedTraffic(32, random);
  for (const TimedParcel& it :
       MakeListSchedule(traffic, {.slack_ppm = 0}).parcels) {
    EXPECT_EQ(it.parcel.offset_bytes % 512, 0) << it.parcel;
  }
}

// Four ranks on two NICs per node: no NIC is used by two ranks at once, and the
// makespan keeps to the bound of the NICs.
TEST(ListScheduleTest, RanksThatShareAPortTakeTurns) {
  std::mt19937_64 random = TestRandom(9);
  for (int i = 0; i < 50; ++i) {
    const Traffic traffic = RandomSkewedTraffic(32, random);
    PortMap ports = PortMap::Own(traffic.num_ranks());
    for (int rank = 0; rank < traffic.num_ranks(); ++rank) {
      ports.port_of_rank[rank] = rank / 4 * 2 + rank % 2;
    }
    const Traffic between = traffic.Filter(
        [&](const Flow& flow) { return flow.sender / 4 != flow.receiver / 4; });
    const ListSchedule list =
        MakeListSchedule(between, ports, {.unit_bytes = 1});
    EXPECT_TRUE(CheckMoves(OrderOf(list), between).ok());
    ExpectNoPortIsUsedTwice(list, ports);
    const int64_t bound = PortBound(between, ports);
    EXPECT_LE(list.makespan_units, bound + bound / 100);
  }
}

TEST(ListScheduleTest, WindowsHoldFewOperations) {
  const Traffic traffic = UniformTraffic(48, 1 << 20);
  const Schedule windows =
      CutIntoWindows(MakeListSchedule(traffic), {.max_operations = 6});
  EXPECT_TRUE(CheckMoves(windows, traffic).ok());
  EXPECT_LE(MaxWindowOperations(windows, 48), 6);
}

}  // namespace
}  // namespace dynatrain::transition
