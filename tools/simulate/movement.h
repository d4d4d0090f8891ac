// Movement: what a strategy does between the last step of the old layout and
// the first of the new one, as phases that follow each other. A phase says how
// many bytes go where; how long that takes is the business of TimeOf (costs.h),
// the same for all strategies.
#ifndef TOOLS_SIMULATE_MOVEMENT_H_
#define TOOLS_SIMULATE_MOVEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "transition/schedule/traffic.h"

namespace dynatrain::simulate {

// What the bytes of a phase pass through.
enum class Resource {
  kNetwork,   // from rank to rank, inside nodes and between them
  kDevice,    // copies in a rank's own device memory
  kDigest,    // digests of it
  kHostLink,  // between a rank's device and its host
  kStorage,   // between ranks and a file system that all nodes share
};

// "network", "device", "digest", "host link", "storage".
const char* ResourceName(Resource resource);

struct Phase {
  std::string name;
  Resource resource = Resource::kNetwork;
  // kNetwork: ranks are those of the cluster, none sends to itself.
  std::vector<transition::Flow> flows;
  // kNetwork: all of it is one group of operations, which nobody orders.
  bool one_group = false;
  // The others: bytes of the busiest rank; kStorage: of the busiest node.
  int64_t busiest_bytes = 0;
  // kStorage: of all ranks together.
  int64_t total_bytes = 0;
  // The old ranks, or their hosts, have to be there while it lasts.
  bool needs_source = true;
};

struct Movement {
  std::vector<Phase> phases;

  // That leave their rank, each time they do.
  int64_t network_bytes() const {
    int64_t bytes = 0;
    for (const Phase& phase : phases) {
      for (const transition::Flow& flow : phase.flows) bytes += flow.bytes;
    }
    return bytes;
  }
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_MOVEMENT_H_
