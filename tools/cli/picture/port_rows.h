// PortRows: the ports of a lane as rows of a timeline: one each where these are
// few, else the ports of a node together, else of neighbouring nodes.
#ifndef TOOLS_CLI_PICTURE_PORT_ROWS_H_
#define TOOLS_CLI_PICTURE_PORT_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/picture/places.h"
#include "transition/preview/preview.h"
#include "transition/preview/timeline.h"

namespace dynatrain::cli {

inline constexpr int kMostPortRows = 64;
inline constexpr int kMostNodeRows = 128;

struct PortRow {
  std::string label;  // "rank 5", "node 3 NIC 1", "node 3", "nodes 0-7"
  int num_ports = 1;
};

enum class Direction { kOut = 0, kIn = 1 };

class PortRows {
 public:
  PortRows(const transition::Preview& preview, const Places& places,
           transition::Lane lane);

  const std::vector<PortRow>& rows() const { return rows_; }
  int size() const { return static_cast<int>(rows_.size()); }
  // Whether each row is one port.
  bool by_port() const { return by_port_; }
  // The row of the port that the parcel leaves or enters by.
  // REQUIRES: a parcel of the preview's lane.
  int RowOf(const transition::Parcel& parcel, Direction direction) const {
    return row_of_rank_[direction == Direction::kOut ? parcel.sender
                                                     : parcel.receiver];
  }
  // What a row carries in `ns` at most.
  double CapacityBytes(int row, double ns) const {
    return rows_[row].num_ports * bytes_per_ns_ * ns;
  }

 private:
  std::vector<PortRow> rows_;
  bool by_port_ = true;
  std::vector<int> row_of_rank_;  // -1: on a node without processes
  double bytes_per_ns_ = 0;       // of one port
};

// How busy rows are in one direction: the bytes that go in each of `num_bins`
// equal parts of [0, ns), over what the row could carry then. A transfer's
// bytes are spread evenly over its time. By row, then bin.
// REQUIRES: ns, num_bins >= 1; no transfer ends after ns.
std::vector<std::vector<double>> UtilisationOf(
    const PortRows& rows, const transition::LaneTimeline& timeline,
    Direction direction, int64_t ns, int num_bins);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_PORT_ROWS_H_
