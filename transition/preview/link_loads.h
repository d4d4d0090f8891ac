// LinkLoads: what passes each port of a cluster, in each direction, so that a
// person sees which one everybody waits for. LowerBounds has the busiest only.
#ifndef TRANSITION_PREVIEW_LINK_LOADS_H_
#define TRANSITION_PREVIEW_LINK_LOADS_H_

#include <cstdint>
#include <vector>

#include "transition/schedule/cluster_model.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct PortBytes {
  int64_t out_bytes = 0;
  int64_t in_bytes = 0;

  friend bool operator==(const PortBytes&, const PortBytes&) = default;
};

struct LinkLoads {
  int64_t inside_bytes = 0;       // between ranks of one node, over all nodes
  int64_t between_bytes = 0;      // between ranks of two nodes
  std::vector<PortBytes> inside;  // by rank of the cluster
  std::vector<PortBytes> nics;    // by port of Lane::kBetween, each rank on its
  std::vector<PortBytes> nodes;   // by node, of all its NICs

  friend bool operator==(const LinkLoads&, const LinkLoads&) = default;
};

// REQUIRES: traffic.num_ranks() <= cluster.num_ranks().
LinkLoads ComputeLinkLoads(const Traffic& traffic, const ClusterModel& cluster);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_LINK_LOADS_H_
