#include "transition/schedule/cluster_model.h"

#include <algorithm>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "transition/schedule/check_range.h"

namespace dynatrain::transition {
namespace {

absl::Status CheckNics(const ClusterFigures& figures) {
  const int ranks = figures.ranks_per_node;
  const int nics = figures.nics_per_node;
  if (nics <= ranks || nics % ranks == 0) return absl::OkStatus();
  const int below = nics / ranks * ranks;
  return absl::InvalidArgumentError(absl::StrCat(
      "cluster: nics_per_node is ", nics, " for ", ranks,
      " ranks; more NICs than ranks must be a multiple of them, such as ",
      below, " or ", below + ranks));
}

Fingerprint DigestOf(const ClusterFigures& figures) {
  Fingerprinter digest;
  digest.Append("cluster")
      .Append(figures.num_nodes)
      .Append(figures.ranks_per_node)
      .Append(figures.nics_per_node)
      .Append(figures.inside_bytes_per_second)
      .Append(figures.nic_bytes_per_second)
      .Append(figures.inside_latency_ns)
      .Append(figures.nic_latency_ns)
      .Append(figures.message_ns)
      .Append(figures.group_ns)
      .Append(figures.max_group_operations);
  return digest.Finish();
}

}  // namespace

const char* LaneName(Lane lane) {
  return lane == Lane::kInside ? "inside" : "between";
}

ClusterModel::ClusterModel(const ClusterFigures& figures)
    : figures_(figures), digest_(DigestOf(figures)) {}

absl::StatusOr<ClusterModel> ClusterModel::Create(
    const ClusterFigures& figures) {
  // Slower than 1 MB/s or later than a second is a typing error, and would let
  // times overflow.
  constexpr int64_t kMinBandwidth = 1'000'000;
  constexpr int64_t kMaxBandwidth = 1'000'000'000'000'000;
  constexpr int64_t kMaxNs = 1'000'000'000;
  constexpr int64_t kMaxMessageNs = 1'000'000;  // there are many
  const auto check = [](const char* field, int64_t value, int64_t min,
                        int64_t max) {
    return CheckRange("cluster", field, value, min, max);
  };
  RETURN_IF_ERROR(check("num_nodes", figures.num_nodes, 1, 1 << 16));
  RETURN_IF_ERROR(check("ranks_per_node", figures.ranks_per_node, 1, 1 << 10));
  RETURN_IF_ERROR(check("nics_per_node", figures.nics_per_node, 1, 1 << 10));
  RETURN_IF_ERROR(CheckNics(figures));
  RETURN_IF_ERROR(check("inside_bytes_per_second",
                        figures.inside_bytes_per_second, kMinBandwidth,
                        kMaxBandwidth));
  RETURN_IF_ERROR(check("nic_bytes_per_second", figures.nic_bytes_per_second,
                        kMinBandwidth, kMaxBandwidth));
  RETURN_IF_ERROR(
      check("inside_latency_ns", figures.inside_latency_ns, 0, kMaxNs));
  RETURN_IF_ERROR(check("nic_latency_ns", figures.nic_latency_ns, 0, kMaxNs));
  RETURN_IF_ERROR(check("message_ns", figures.message_ns, 0, kMaxMessageNs));
  RETURN_IF_ERROR(check("group_ns", figures.group_ns, 0, kMaxNs));
  // A group has to hold at least one exchange with one peer.
  RETURN_IF_ERROR(check("max_group_operations", figures.max_group_operations, 2,
                        kMaxGroupOperations));
  return ClusterModel(figures);
}

int ClusterModel::num_ports(Lane lane) const {
  if (lane == Lane::kInside) return num_ranks();
  return figures_.num_nodes *
         std::min(figures_.nics_per_node, figures_.ranks_per_node);
}

int ClusterModel::PortOf(Lane lane, int rank) const {
  if (lane == Lane::kInside) return rank;
  const int ports = std::min(figures_.nics_per_node, figures_.ranks_per_node);
  return NodeOf(rank) * ports + rank % figures_.ranks_per_node % ports;
}

PortMap ClusterModel::Ports(Lane lane) const {
  PortMap ports = {std::vector<int>(num_ranks()), num_ports(lane)};
  for (int rank = 0; rank < num_ranks(); ++rank) {
    ports.port_of_rank[rank] = PortOf(lane, rank);
  }
  return ports;
}

int64_t ClusterModel::PortBytesPerSecond(Lane lane) const {
  if (lane == Lane::kInside) return figures_.inside_bytes_per_second;
  const int nics = figures_.nics_per_node / figures_.ranks_per_node;
  return std::max(nics, 1) * figures_.nic_bytes_per_second;
}

int64_t ClusterModel::LatencyNs(Lane lane) const {
  return lane == Lane::kInside ? figures_.inside_latency_ns
                               : figures_.nic_latency_ns;
}

std::string ClusterModel::DebugString() const {
  return absl::StrFormat(
      "%d nodes x %d ranks, %d NICs of %.1f GB/s, %.1f GB/s inside",
      figures_.num_nodes, figures_.ranks_per_node, figures_.nics_per_node,
      figures_.nic_bytes_per_second / 1e9,
      figures_.inside_bytes_per_second / 1e9);
}

Traffic OnLane(const Traffic& traffic, const ClusterModel& cluster, Lane lane) {
  return traffic.Filter([&](const Flow& flow) {
    return cluster.LaneOf(flow.sender, flow.receiver) == lane;
  });
}

int64_t TransferNs(int64_t bytes, int64_t bytes_per_second) {
  const absl::uint128 product = absl::uint128(bytes) * 1'000'000'000;
  const absl::uint128 rate = bytes_per_second;
  return static_cast<int64_t>((product + rate - 1) / rate);
}

}  // namespace dynatrain::transition
