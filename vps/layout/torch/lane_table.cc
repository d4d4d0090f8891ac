#include "vps/layout/torch/lane_table.h"

#include <utility>

#include "vps/layout/rank_group.h"

namespace dynatrain::vps {

std::vector<int> AxesThatMatter(const Mesh& mesh, const LaneTable& table) {
  const RankGroup group(mesh, {table.axes});
  std::vector<int> axes;
  for (const int axis : table.axes) {
    for (int lane = 0; lane < group.ranks(); ++lane) {
      const int rank = group.RankOf(lane);
      const int first = rank - mesh.Coordinate(rank, axis) * mesh.stride(axis);
      if (table.lanes[lane] == table.lanes[group.NumberOf(first)]) continue;
      axes.push_back(axis);
      break;
    }
  }
  return axes;
}

LaneTable OverAxes(const Mesh& mesh, const LaneTable& table,
                   std::vector<int> axes) {
  const RankGroup from(mesh, {table.axes});
  const RankGroup to(mesh, {axes});
  LaneTable made = {.axes = std::move(axes), .lanes = {}};
  for (int lane = 0; lane < to.ranks(); ++lane) {
    made.lanes.push_back(table.lanes[from.NumberOf(to.RankOf(lane))]);
  }
  return made;
}

}  // namespace dynatrain::vps
