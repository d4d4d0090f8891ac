#include "transition/schedule/cluster_model.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ClusterFigures kFigures = {
    .num_nodes = 2,
    .ranks_per_node = 4,
    .nics_per_node = 2,
    .inside_bytes_per_second = 200'000'000'000,
    .nic_bytes_per_second = 25'000'000'000,
};

std::vector<int> NetworkPorts(const ClusterModel& cluster) {
  std::vector<int> ports;
  for (int rank = 0; rank < cluster.num_ranks(); ++rank) {
    ports.push_back(cluster.PortOf(Lane::kBetween, rank));
  }
  return ports;
}

TEST(ClusterModelTest, RanksShareNicsWhereThereAreFewer) {
  const ClusterModel cluster = *ClusterModel::Create(kFigures);
  EXPECT_THAT(NetworkPorts(cluster), ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_EQ(cluster.num_ports(Lane::kBetween), 4);
  EXPECT_EQ(cluster.PortBytesPerSecond(Lane::kBetween), 25'000'000'000);
  EXPECT_EQ(cluster.NodeBytesPerSecond(), 50'000'000'000);
}

TEST(ClusterModelTest, ARankHasSeveralNicsWhereThereAreMore) {
  ClusterFigures figures = kFigures;
  figures.nics_per_node = 8;
  const ClusterModel cluster = *ClusterModel::Create(figures);
  EXPECT_THAT(NetworkPorts(cluster), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(cluster.PortBytesPerSecond(Lane::kBetween), 50'000'000'000);
}

TEST(ClusterModelTest, EachRankIsAPortInsideItsNode) {
  const ClusterModel cluster = *ClusterModel::Create(kFigures);
  EXPECT_EQ(cluster.num_ports(Lane::kInside), 8);
  EXPECT_EQ(cluster.PortOf(Lane::kInside, 5), 5);
  EXPECT_EQ(cluster.LaneOf(0, 3), Lane::kInside);
  EXPECT_EQ(cluster.LaneOf(3, 4), Lane::kBetween);
}

TEST(ClusterModelTest, DigestDependsOnEachFigure) {
  std::set<std::string> digests;
  const auto add = [&](auto change) {
    ClusterFigures figures = kFigures;
    change(figures);
    digests.insert(ClusterModel::Create(figures)->digest().Hex());
  };
  add([](ClusterFigures&) {});
  add([](ClusterFigures& f) { ++f.num_nodes; });
  add([](ClusterFigures& f) { ++f.ranks_per_node; });
  add([](ClusterFigures& f) { ++f.nics_per_node; });
  add([](ClusterFigures& f) { ++f.inside_bytes_per_second; });
  add([](ClusterFigures& f) { ++f.nic_bytes_per_second; });
  add([](ClusterFigures& f) { ++f.inside_latency_ns; });
  add([](ClusterFigures& f) { ++f.nic_latency_ns; });
  add([](ClusterFigures& f) { ++f.message_ns; });
  add([](ClusterFigures& f) { ++f.group_ns; });
  add([](ClusterFigures& f) { --f.max_group_operations; });
  EXPECT_EQ(digests.size(), 11);
}

TEST(ClusterModelTest, RefusalsNameTheFieldAndWhatWouldDo) {
  const auto error = [](auto change) {
    ClusterFigures figures = kFigures;
    change(figures);
    const auto cluster = ClusterModel::Create(figures);
    EXPECT_EQ(cluster.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(cluster.status().message());
  };
  EXPECT_THAT(error([](ClusterFigures& f) { f.num_nodes = 0; }),
              HasSubstr("num_nodes is 0; it must be 1 to 65536"));
  EXPECT_THAT(error([](ClusterFigures& f) { f.nics_per_node = 7; }),
              HasSubstr("such as 4 or 8"));
  EXPECT_THAT(error([](ClusterFigures& f) { f.nic_bytes_per_second = 25; }),
              HasSubstr("nic_bytes_per_second is 25; it must be 1000000"));
  EXPECT_THAT(error([](ClusterFigures& f) { f.max_group_operations = 4096; }),
              HasSubstr("the nearest is 256"));
  EXPECT_THAT(error([](ClusterFigures& f) { f.group_ns = -1; }),
              HasSubstr("group_ns is -1"));
  EXPECT_THAT(error([](ClusterFigures& f) { f.message_ns = 2'000'000; }),
              HasSubstr("message_ns is 2000000; it must be 0 to 1000000"));
}

TEST(ClusterModelTest, TransferTimesAreRoundedUpAndDontOverflow) {
  EXPECT_EQ(TransferNs(0, 1'000'000), 0);
  EXPECT_EQ(TransferNs(1, 3'000'000'000), 1);
  EXPECT_EQ(TransferNs(25'000'000'000, 25'000'000'000), 1'000'000'000);
  EXPECT_EQ(TransferNs(kMaxTrafficBytes, 1'000'000), kMaxTrafficBytes * 1000);
}

}  // namespace
}  // namespace dynatrain::transition
