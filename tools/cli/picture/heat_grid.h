// HeatGrid: who sends how much to whom, of groups that fit a page: ranks where
// these are few, else nodes, else neighbouring nodes together.
#ifndef TOOLS_CLI_PICTURE_HEAT_GRID_H_
#define TOOLS_CLI_PICTURE_HEAT_GRID_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/picture/places.h"
#include "transition/preview/preview.h"

namespace dynatrain::cli {

inline constexpr int kMostHeatRanks = 64;
inline constexpr int kMostHeatNodes = 128;

struct HeatGroup {
  std::string label;  // a number, or "0-7"
  Role role = Role::kEmpty;
  bool begins_node = false;  // a line is drawn before it
  // What its ranks send to and receive from others, in and out of nodes.
  int64_t inside_out_bytes = 0, inside_in_bytes = 0;
  int64_t between_out_bytes = 0, between_in_bytes = 0;
};

struct HeatCell {
  int64_t inside_bytes = 0;   // between ranks of one node
  int64_t between_bytes = 0;  // between nodes
};

struct HeatGrid {
  std::string unit;  // "rank", "node", "nodes"
  std::vector<HeatGroup> groups;
  std::vector<HeatCell> cells;  // row: sender, column: receiver

  int size() const { return static_cast<int>(groups.size()); }
  const HeatCell& at(int sender, int receiver) const {
    return cells[static_cast<size_t>(sender) * groups.size() + receiver];
  }
};

// All nodes that have processes.
HeatGrid GridOf(const transition::Preview& preview, const Places& places);

// By rail: the place of a rank in its node. Only what goes between nodes.
HeatGrid RailGridOf(const transition::Preview& preview);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_HEAT_GRID_H_
