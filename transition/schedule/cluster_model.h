// ClusterModel: the figures of a cluster that costs are computed from. They are
// an input of a plan, never measured while planning; whoever follows a schedule
// that was chosen by them has to agree on their digest first.
//
// Ranks are numbered node by node: rank = node * ranks_per_node + local rank. A
// rank has one port into its node (NVLink, or memory on a CPU host) and one
// into the network, each of its own bandwidth in each direction, both usable at
// once. With fewer NICs than ranks in a node, local ranks l and
// l + nics_per_node share a NIC; with more, each rank has the same number.
//
//   ASSIGN_OR_RETURN(ClusterModel cluster, ClusterModel::Create({
//       .num_nodes = 16, .ranks_per_node = 8, .nics_per_node = 4,
//       .inside_bytes_per_second = 200'000'000'000,
//       .nic_bytes_per_second = 25'000'000'000}));
//
// Invalid: nics_per_node = 12 with ranks_per_node = 8, since neither do
// ranks share a NIC nor does each have as many as the others.
#ifndef TRANSITION_SCHEDULE_CLUSTER_MODEL_H_
#define TRANSITION_SCHEDULE_CLUSTER_MODEL_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "base/fingerprint.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct ClusterFigures {
  int num_nodes = 1;
  int ranks_per_node = 8;
  int nics_per_node = 8;
  // Of one rank inside its node and of one NIC, each direction.
  int64_t inside_bytes_per_second = 0;
  int64_t nic_bytes_per_second = 0;
  // Until the first byte of a message is there.
  int64_t inside_latency_ns = 5'000;
  int64_t nic_latency_ns = 10'000;
  // What a message costs its ports beside its bytes; at most a millisecond.
  int64_t message_ns = 2'000;
  // What it costs to start a group of operations (a kernel launch, joins).
  int64_t group_ns = 30'000;
  // Sends and receives of one rank in one group. Groups of thousands hang in
  // NCCL, so it must be at most kMaxGroupOperations.
  int max_group_operations = 256;

  friend bool operator==(const ClusterFigures&,
                         const ClusterFigures&) = default;
};

inline constexpr int kMaxGroupOperations = 256;

// Bytes move slot by slot, each of which costs message_ns: with slots of this
// at least, all that can move costs less than 2^63 ns.
inline constexpr int64_t kMinSlotBytes = 4096;

// The two kinds of ports, which work at once.
enum class Lane {
  kInside = 0,   // within a node
  kBetween = 1,  // between nodes
};
inline constexpr Lane kLanes[] = {Lane::kInside, Lane::kBetween};

// "inside", "between".
const char* LaneName(Lane lane);

class ClusterModel {
 public:
  // Returns kInvalidArgument naming the field, its value and what would do.
  static absl::StatusOr<ClusterModel> Create(const ClusterFigures& figures);

  const ClusterFigures& figures() const { return figures_; }
  int num_ranks() const { return figures_.num_nodes * figures_.ranks_per_node; }
  int NodeOf(int rank) const { return rank / figures_.ranks_per_node; }
  // The lane that a flow takes.
  Lane LaneOf(int sender, int receiver) const {
    return NodeOf(sender) == NodeOf(receiver) ? Lane::kInside : Lane::kBetween;
  }
  // Ports of a lane are numbered from 0 to num_ports(lane) - 1. Inside a node a
  // port is a rank; between nodes it is a NIC, or all NICs of one rank.
  int num_ports(Lane lane) const;
  int PortOf(Lane lane, int rank) const;
  // Of all ranks of the cluster.
  PortMap Ports(Lane lane) const;
  int64_t PortBytesPerSecond(Lane lane) const;
  int64_t LatencyNs(Lane lane) const;
  // Of all NICs of a node together.
  int64_t NodeBytesPerSecond() const {
    return figures_.nics_per_node * figures_.nic_bytes_per_second;
  }

  // Over all figures.
  const Fingerprint& digest() const { return digest_; }
  // "16 nodes x 8 ranks, 4 NICs of 25.0 GB/s, 200.0 GB/s inside".
  std::string DebugString() const;

  friend bool operator==(const ClusterModel& a, const ClusterModel& b) {
    return a.figures_ == b.figures_;
  }

 private:
  explicit ClusterModel(const ClusterFigures& figures);

  ClusterFigures figures_;
  Fingerprint digest_;
};

// The flows that take `lane`. REQUIRES: traffic.num_ranks() <= its ranks.
Traffic OnLane(const Traffic& traffic, const ClusterModel& cluster, Lane lane);

// Nanoseconds, rounded up, that `bytes` take at a bandwidth.
// REQUIRES: 0 <= bytes <= kMaxTrafficBytes, bytes_per_second >= 1'000'000.
int64_t TransferNs(int64_t bytes, int64_t bytes_per_second);

inline std::ostream& operator<<(std::ostream& out,
                                const ClusterModel& cluster) {
  return out << cluster.DebugString();
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_CLUSTER_MODEL_H_
