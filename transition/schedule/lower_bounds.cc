#include "transition/schedule/lower_bounds.h"

#include <algorithm>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"

namespace dynatrain::transition {
namespace {

PortLoad Busiest(absl::Span<const int64_t> loads) {
  const auto max = std::max_element(loads.begin(), loads.end());
  if (max == loads.end()) return {};
  return {static_cast<int>(max - loads.begin()), *max};
}

struct Loads {
  PortLoad out;
  PortLoad in;
};

Loads LoadsOf(const Traffic& traffic, int num_ports,
              absl::FunctionRef<int(int)> port_of_rank) {
  std::vector<int64_t> out(num_ports);
  std::vector<int64_t> in(num_ports);
  for (const Flow& flow : traffic.flows()) {
    out[port_of_rank(flow.sender)] += flow.bytes;
    in[port_of_rank(flow.receiver)] += flow.bytes;
  }
  return {Busiest(out), Busiest(in)};
}

int64_t LongerNs(const PortLoad& out, const PortLoad& in,
                 int64_t bytes_per_second) {
  return TransferNs(std::max(out.bytes, in.bytes), bytes_per_second);
}

std::string Line(const char* what, const char* port, const PortLoad& load) {
  return absl::StrFormat("%-28s %15d  (%s %d)\n", what, load.bytes, port,
                         load.port);
}

}  // namespace

LowerBounds ComputeLowerBounds(const Traffic& traffic,
                               const ClusterModel& cluster) {
  LowerBounds bounds;
  const Traffic inside = OnLane(traffic, cluster, Lane::kInside);
  const Traffic between = OnLane(traffic, cluster, Lane::kBetween);
  bounds.bytes = traffic.total_bytes();
  bounds.between_bytes = between.total_bytes();
  const auto rank = [](int rank) { return rank; };
  const auto node = [&](int rank) { return cluster.NodeOf(rank); };
  const auto nic = [&](int rank) {
    return cluster.PortOf(Lane::kBetween, rank);
  };
  const Loads all = LoadsOf(traffic, traffic.num_ranks(), rank);
  const Loads in_node = LoadsOf(inside, traffic.num_ranks(), rank);
  const Loads nodes = LoadsOf(between, cluster.figures().num_nodes, node);
  const Loads nics = LoadsOf(between, cluster.num_ports(Lane::kBetween), nic);
  bounds.max_out = all.out;
  bounds.max_in = all.in;
  bounds.max_inside_out = in_node.out;
  bounds.max_inside_in = in_node.in;
  bounds.max_node_out = nodes.out;
  bounds.max_node_in = nodes.in;
  bounds.max_nic_out = nics.out;
  bounds.max_nic_in = nics.in;
  const int64_t inside_ns = LongerNs(in_node.out, in_node.in,
                                     cluster.PortBytesPerSecond(Lane::kInside));
  bounds.ideal_ns = std::max(
      inside_ns, LongerNs(nodes.out, nodes.in, cluster.NodeBytesPerSecond()));
  bounds.pinned_ns = std::max(
      bounds.ideal_ns,
      LongerNs(nics.out, nics.in, cluster.PortBytesPerSecond(Lane::kBetween)));
  return bounds;
}

int64_t LowerBounds::EfficiencyPpm(int64_t actual_ns) const {
  if (actual_ns <= 0) return 1'000'000;
  return static_cast<int64_t>(absl::uint128(ideal_ns) * 1'000'000 /
                              absl::uint128(actual_ns));
}

std::string LowerBounds::DebugString() const {
  return absl::StrCat(
      absl::StrFormat("%-28s %15d\n", "bytes that must move", bytes),
      absl::StrFormat("%-28s %15d\n", "of those, between nodes", between_bytes),
      Line("most out of a rank", "rank", max_out),
      Line("most into a rank", "rank", max_in),
      Line("most out inside a node", "rank", max_inside_out),
      Line("most in inside a node", "rank", max_inside_in),
      Line("most out of a node", "node", max_node_out),
      Line("most into a node", "node", max_node_in),
      Line("most out of a network port", "port", max_nic_out),
      Line("most into a network port", "port", max_nic_in),
      absl::StrFormat("%-28s %15.3f\n", "ideal time, ms", ideal_ns / 1e6),
      absl::StrFormat("%-28s %15.3f\n", "each rank on its NIC, ms",
                      pinned_ns / 1e6));
}

int64_t PortBound(const Traffic& traffic, const PortMap& ports) {
  const Loads loads =
      LoadsOf(traffic, ports.num_ports, [&](int rank) { return ports[rank]; });
  return std::max(loads.out.bytes, loads.in.bytes);
}

int64_t RankBound(const Traffic& traffic) {
  return PortBound(traffic, PortMap::Own(traffic.num_ranks()));
}

}  // namespace dynatrain::transition
