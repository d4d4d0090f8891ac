// LaneTable: where a local tensor lies, by the coordinates of its rank on some
// mesh axes. Ranks with the same coordinates are a lane.
//
// Tensors that are laid end to end (FSDP1, ZeRO) lie at the same place on all
// ranks, unless one before them is cut unevenly: 5 rows over tp 2 are 3 and 2,
// and what follows begins a row earlier on tp 1.
#ifndef VPS_LAYOUT_TORCH_LANE_TABLE_H_
#define VPS_LAYOUT_TORCH_LANE_TABLE_H_

#include <vector>

#include "absl/types/span.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"

namespace dynatrain::vps {

struct LaneTable {
  std::vector<int> axes;  // indices of mesh axes
  // One for each coordinate on the axes, the first axis slowest.
  std::vector<Lane> lanes = {{}};

  friend bool operator==(const LaneTable&, const LaneTable&) = default;
};

// The axes along which lanes differ, in the order of the table.
std::vector<int> AxesThatMatter(const Mesh& mesh, const LaneTable& table);

// The same over other axes, which may be others in another order: it is at 0 on
// those that it had and has no more, and does not change along new ones.
LaneTable OverAxes(const Mesh& mesh, const LaneTable& table,
                   std::vector<int> axes);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_LANE_TABLE_H_
