#include "tools/cli/picture/port_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynatrain::cli {
namespace {

using transition::ClusterModel;
using transition::Lane;

std::string PortName(const ClusterModel& cluster, Lane lane, int node,
                     int port_in_node) {
  const int per_node = cluster.figures().ranks_per_node;
  if (lane == Lane::kInside) {
    return absl::StrCat("rank ", node * per_node + port_in_node);
  }
  const int nics = cluster.num_ports(lane) / cluster.figures().num_nodes;
  return nics == per_node
             ? absl::StrCat("rank ", node * per_node + port_in_node)
             : absl::StrCat("node ", node, " NIC ", port_in_node);
}

}  // namespace

PortRows::PortRows(const transition::Preview& preview, const Places& places,
                   Lane lane)
    : row_of_rank_(preview.cluster.num_ranks(), -1),
      bytes_per_ns_(preview.cluster.PortBytesPerSecond(lane) / 1e9) {
  const ClusterModel& cluster = preview.cluster;
  const int ranks_per_node = cluster.figures().ranks_per_node;
  const int ports_per_node =
      cluster.num_ports(lane) / cluster.figures().num_nodes;
  const int num_nodes = static_cast<int>(places.nodes.size());
  by_port_ = num_nodes * ports_per_node <= kMostPortRows;
  const int nodes_per_row = (num_nodes + kMostNodeRows - 1) / kMostNodeRows;
  for (int i = 0; i < num_nodes; ++i) {
    const int node = places.nodes[i];
    if (!by_port_ && i % nodes_per_row == 0) {
      const int last = places.nodes[std::min(i + nodes_per_row, num_nodes) - 1];
      rows_.push_back({.label = last == node
                                    ? absl::StrCat("node ", node)
                                    : absl::StrCat("nodes ", node, "-", last),
                       .num_ports = 0});
    }
    const int first_row = by_port_ ? size() : size() - 1;
    for (int port = 0; port < ports_per_node; ++port) {
      if (by_port_) {
        rows_.push_back({.label = PortName(cluster, lane, node, port)});
      } else {
        ++rows_.back().num_ports;
      }
    }
    for (int rank = node * ranks_per_node; rank < (node + 1) * ranks_per_node;
         ++rank) {
      const int port = cluster.PortOf(lane, rank) % ports_per_node;
      row_of_rank_[rank] = first_row + (by_port_ ? port : 0);
    }
  }
}

std::vector<std::vector<double>> UtilisationOf(
    const PortRows& rows, const transition::LaneTimeline& timeline,
    Direction direction, int64_t ns, int num_bins) {
  std::vector<std::vector<double>> busy(rows.size(),
                                        std::vector<double>(num_bins));
  const double bin_ns = static_cast<double>(ns) / num_bins;
  for (const transition::TransferTime& it : timeline.transfers) {
    std::vector<double>& row = busy[rows.RowOf(it.parcel, direction)];
    const double bytes_per_ns =
        static_cast<double>(it.parcel.bytes) / (it.end - it.begin);
    const int first = static_cast<int>(it.begin / bin_ns);
    for (int bin = first; bin < num_bins && bin * bin_ns < it.end; ++bin) {
      const double begin = std::max<double>(it.begin, bin * bin_ns);
      const double end = std::min<double>(it.end, (bin + 1) * bin_ns);
      row[bin] += std::max(end - begin, 0.0) * bytes_per_ns;
    }
  }
  for (int row = 0; row < rows.size(); ++row) {
    for (double& bytes : busy[row]) bytes /= rows.CapacityBytes(row, bin_ns);
  }
  return busy;
}

}  // namespace dynatrain::cli
