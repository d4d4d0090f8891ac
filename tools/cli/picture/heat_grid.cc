#include "tools/cli/picture/heat_grid.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transition/preview/timeline.h"

namespace dynatrain::cli {
namespace {

using transition::Flow;
using transition::Lane;
using transition::Preview;

// `group_of_rank`: of each rank of the cluster, -1 for none.
void AddFlows(const Preview& preview, const std::vector<int>& group_of_rank,
              HeatGrid& grid) {
  grid.cells.resize(grid.groups.size() * grid.groups.size());
  const transition::Traffic sent = transition::SentTraffic(preview);
  for (const Flow& flow : sent.flows()) {
    const int sender = group_of_rank[flow.sender];
    const int receiver = group_of_rank[flow.receiver];
    HeatCell& cell =
        grid.cells[static_cast<size_t>(sender) * grid.groups.size() + receiver];
    if (preview.cluster.LaneOf(flow.sender, flow.receiver) == Lane::kInside) {
      cell.inside_bytes += flow.bytes;
      grid.groups[sender].inside_out_bytes += flow.bytes;
      grid.groups[receiver].inside_in_bytes += flow.bytes;
    } else {
      cell.between_bytes += flow.bytes;
      grid.groups[sender].between_out_bytes += flow.bytes;
      grid.groups[receiver].between_in_bytes += flow.bytes;
    }
  }
}

}  // namespace

HeatGrid GridOf(const Preview& preview, const Places& places) {
  HeatGrid grid;
  const int per_node = preview.cluster.figures().ranks_per_node;
  const int num_nodes = static_cast<int>(places.nodes.size());
  std::vector<int> group_of_rank(preview.cluster.num_ranks(), -1);
  if (num_nodes * per_node <= kMostHeatRanks) {
    grid.unit = "rank";
    for (int node : places.nodes) {
      for (int i = 0; i < per_node; ++i) {
        const int rank = node * per_node + i;
        group_of_rank[rank] = grid.size();
        grid.groups.push_back({.label = absl::StrCat(rank),
                               .role = places.RoleOf(rank, 1),
                               .begins_node = i == 0});
      }
    }
  } else {
    const int per_group = (num_nodes + kMostHeatNodes - 1) / kMostHeatNodes;
    grid.unit = per_group == 1 ? "node" : "nodes";
    for (int i = 0; i < num_nodes; ++i) {
      const int node = places.nodes[i];
      const Role role = places.RoleOf(node * per_node, per_node);
      if (i % per_group == 0) {
        const int last = places.nodes[std::min(i + per_group, num_nodes) - 1];
        grid.groups.push_back({.label = last == node
                                            ? absl::StrCat(node)
                                            : absl::StrCat(node, "-", last),
                               .role = role});
      } else if (grid.groups.back().role != role) {
        grid.groups.back().role = Role::kMixed;
      }
      for (int j = 0; j < per_node; ++j) {
        group_of_rank[node * per_node + j] = grid.size() - 1;
      }
    }
  }
  AddFlows(preview, group_of_rank, grid);
  return grid;
}

HeatGrid RailGridOf(const Preview& preview) {
  HeatGrid grid = {.unit = "rail"};
  const int per_node = preview.cluster.figures().ranks_per_node;
  std::vector<int> group_of_rank;
  for (int rank = 0; rank < preview.cluster.num_ranks(); ++rank) {
    group_of_rank.push_back(rank % per_node);
  }
  for (int i = 0; i < per_node; ++i) {
    grid.groups.push_back({.label = absl::StrCat(i)});
  }
  AddFlows(preview, group_of_rank, grid);
  for (HeatCell& cell : grid.cells) cell.inside_bytes = 0;
  return grid;
}

}  // namespace dynatrain::cli
