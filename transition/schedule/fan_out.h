// FanOut: how new replicas get all they need from old ones at the speed of one
// port, S/B, however many they are. Each old rank feeds a chain of new ranks; a
// new rank passes each slot on while it receives the next one, so all ports of
// a chain are busy both ways and a chain of k takes S/B + (k - 1) c/B with
// slots of c (PERFORMANCE, section 7). Sending k copies from one rank would
// take k S/B.
//
//   old 0 ─▶ new 4 ─▶ new 5        R = 2 old, k = 4 new: two chains of two
//   old 1 ─▶ new 6 ─▶ new 7
//
// No rank is in two chains, and a new rank depends only on the one before it,
// so nobody waits in a cycle.
#ifndef TRANSITION_SCHEDULE_FAN_OUT_H_
#define TRANSITION_SCHEDULE_FAN_OUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/collective_costs.h"

namespace dynatrain::transition {

struct FanOut {
  // Each begins with an old rank; then new ones in the order of the chain,
  // those of a node together, so that each node gets one copy per chain over
  // the network.
  std::vector<std::vector<int>> chains;
  int64_t bytes = 0;  // that each new rank receives
  int64_t slot_bytes = 0;

  friend bool operator==(const FanOut&, const FanOut&) = default;
};

// As many chains as there are old ranks, at most one per new rank. Chains are
// whole nodes where there are nodes enough, and begin on the node of their old
// rank where they can. Returns kInvalidArgument if there is no old or no new
// rank, a rank is not of the cluster or there twice, bytes are not positive, or
// an option is out of range.
absl::StatusOr<FanOut> PlanFanOut(const ClusterModel& cluster,
                                  absl::Span<const int> old_ranks,
                                  absl::Span<const int> new_ranks,
                                  int64_t bytes,
                                  const CollectiveOptions& options = {});

// When the last slot has arrived in the port model, in bytes; the bound is
// fan_out.bytes (what goes into one port).
int64_t FanOutMakespan(const FanOut& fan_out);

// The same on a cluster, in nanoseconds: slots cost message_ns and latency, and
// pass NVLink inside nodes. Ranks that share a NIC are not slowed here; chains
// enter and leave a node once.
int64_t FanOutNs(const FanOut& fan_out, const ClusterModel& cluster);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_FAN_OUT_H_
