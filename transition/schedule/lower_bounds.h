// LowerBounds: what no schedule can beat. It stands beside every plan, so that
// a person sees how far a schedule is from the best there could be.
#ifndef TRANSITION_SCHEDULE_LOWER_BOUNDS_H_
#define TRANSITION_SCHEDULE_LOWER_BOUNDS_H_

#include <cstdint>
#include <string>

#include "transition/schedule/cluster_model.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

// The busiest of some ports (ranks, NICs, nodes), the first of equals.
struct PortLoad {
  int port = 0;
  int64_t bytes = 0;
  friend bool operator==(const PortLoad&, const PortLoad&) = default;
};

struct LowerBounds {
  int64_t bytes = 0;          // all that must leave its rank
  int64_t between_bytes = 0;  // of those, what must leave its node
  // Over all lanes, per rank.
  PortLoad max_out;
  PortLoad max_in;
  // Inside a node, per rank.
  PortLoad max_inside_out;
  PortLoad max_inside_in;
  // Per node, of all its NICs together.
  PortLoad max_node_out;
  PortLoad max_node_in;
  // Per network port (a NIC, if ranks share them), with each rank's bytes on
  // its own port.
  PortLoad max_nic_out;
  PortLoad max_nic_in;
  // The longest of inside and node times: a bound for any routing of bytes.
  int64_t ideal_ns = 0;
  // As ideal_ns with each rank on its own network port: a bound for schedules
  // that don't forward bytes to another rank's NIC. >= ideal_ns.
  int64_t pinned_ns = 0;

  // How good a time is: 1'000'000 * ideal_ns / actual_ns, rounded down;
  // 1'000'000 if nothing moves.
  int64_t EfficiencyPpm(int64_t actual_ns) const;
  // One line per bound, for people.
  std::string DebugString() const;

  friend bool operator==(const LowerBounds&, const LowerBounds&) = default;
};

// REQUIRES: traffic.num_ranks() <= cluster.num_ranks().
LowerBounds ComputeLowerBounds(const Traffic& traffic,
                               const ClusterModel& cluster);

// max over ports of what goes out and of what comes in: no schedule in which
// a port sends one byte and receives one byte at a time is shorter (in bytes).
// Attained by preemption (Gonzalez and Sahni 1976, open shop).
// REQUIRES: traffic.num_ranks() <= ports.num_ranks().
int64_t PortBound(const Traffic& traffic, const PortMap& ports);

// As above with a port of its own for each rank.
int64_t RankBound(const Traffic& traffic);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_LOWER_BOUNDS_H_
