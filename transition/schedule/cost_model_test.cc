#include "transition/schedule/cost_model.h"

#include "gtest/gtest.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {
namespace {

// 0 1 | 2 3, one NIC of 1 byte/ns per node, 10 bytes/ns inside.
ClusterModel Cluster(int nics = 1, int nodes = 2) {
  return *ClusterModel::Create({.num_nodes = nodes,
                                .ranks_per_node = 2,
                                .nics_per_node = nics,
                                .inside_bytes_per_second = 10'000'000'000,
                                .nic_bytes_per_second = 1'000'000'000,
                                .inside_latency_ns = 3,
                                .nic_latency_ns = 7,
                                .message_ns = 5,
                                .group_ns = 100});
}

TEST(CostModelTest, AMessageCostsBytesSlotsAndLatency) {
  const Schedule schedule = {{{0, 2, 0, 1000}}, {0}};
  EXPECT_EQ(OrderedNs(schedule, Cluster(), Lane::kBetween, 1000), 1000 + 5 + 7);
  EXPECT_EQ(OrderedNs(schedule, Cluster(), Lane::kBetween, 300),
            1000 + 4 * 5 + 7);
  EXPECT_EQ(GroupedNs(schedule, Cluster(), Lane::kBetween), 1000 + 5 + 7 + 100);
  const Schedule inside = {{{0, 1, 0, 1000}}, {0}};
  EXPECT_EQ(OrderedNs(inside, Cluster(), Lane::kInside, 1000), 100 + 5 + 3);
}

TEST(CostModelTest, RanksThatShareANicDivideIt) {
  const Schedule schedule = {{{0, 2, 0, 1000}, {1, 3, 0, 1000}}, {0}};
  EXPECT_EQ(OrderedNs(schedule, Cluster(1), Lane::kBetween, 1000),
            2 * 1005 + 7);
  EXPECT_EQ(OrderedNs(schedule, Cluster(2), Lane::kBetween, 1000), 1005 + 7);
  EXPECT_EQ(GroupedNs(schedule, Cluster(1), Lane::kBetween), 2 * 1005 + 107);
}

// 0 -> 2 waits for 4 -> 2; meanwhile 1, on the same NIC, begins to send to 5,
// and makes way when 0 can send.
TEST(CostModelTest, WhoBeginsOutOfTurnMakesWay) {
  const Schedule schedule = {
      {{4, 2, 0, 100}, {0, 2, 0, 1000}, {1, 5, 0, 1000}, {4, 2, 100, 1000}}};
  // Slots of 10 bytes take 15 ns.
  EXPECT_EQ(OrderedNs(schedule, Cluster(1, 3), Lane::kBetween, 10),
            150 + 1500 + 1500 + 7);
}

TEST(CostModelTest, EachWindowCostsAGroup) {
  const Schedule schedule = {{{0, 2, 0, 1000}, {0, 2, 1000, 500}}, {0, 1}};
  EXPECT_EQ(GroupedNs(schedule, Cluster(), Lane::kBetween),
            1000 + 500 + 2 * (5 + 107));
}

TEST(CostModelTest, SaysWhenEachParcelGoes) {
  using Times = std::vector<TransferTime>;
  const Parcel first = {0, 2, 0, 1000}, second = {1, 3, 0, 500};
  const Schedule schedule = {{first, second}, {0}};
  // On one NIC, in turns of a 256th of 1500 bytes rounded up to slots.
  EXPECT_EQ(OrderedTimes(schedule, Cluster(1), Lane::kBetween, 1000),
            (Times{{first, 0, 1005}, {second, 1005, 1510}}));
  EXPECT_EQ(OrderedTimes(schedule, Cluster(2), Lane::kBetween, 1000),
            (Times{{first, 0, 1005}, {second, 0, 505}}));
  EXPECT_EQ(OrderedTimes({{first}}, Cluster(1), Lane::kBetween, 600),
            (Times{{{0, 2, 0, 600}, 0, 605}, {{0, 2, 600, 400}, 605, 1010}}));
  EXPECT_EQ(GroupedTimes(schedule, Cluster(1), Lane::kBetween),
            (Times{{first, 0, 1617}, {second, 0, 1617}}));
  EXPECT_EQ(GroupedTimes(schedule, Cluster(2), Lane::kBetween),
            (Times{{first, 0, 1112}, {second, 0, 612}}));
}

TEST(CostModelTest, NothingTakesNoTime) {
  EXPECT_EQ(OrderedNs({}, Cluster(), Lane::kInside, 1), 0);
  EXPECT_EQ(GroupedNs({}, Cluster(), Lane::kInside), 0);
}

}  // namespace
}  // namespace dynatrain::transition
