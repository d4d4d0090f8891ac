// ChainTree: the way of the same bytes from one rank to many at the speed of
// one port. They go from node to node over the network, one copy for each node,
// and from the rank where they enter a node along its other ranks: two chains
// that use different ports, so a rank passes everything on while it receives
// what is next.
//
//   root ═▶ 4 ═▶ 9        ═ between nodes, ─ inside; a number is a depth
//           └▶ 5 └▶ 8     0: root→4, 1: 4→9 and 4→5, 2: 9→8
//
// Chains of several roots to the same ranks are turned: each enters other nodes
// first, by other ranks, so that the ports of all are used alike.
#ifndef TRANSITION_SCHEDULE_CHAIN_TREE_H_
#define TRANSITION_SCHEDULE_CHAIN_TREE_H_

#include <vector>

#include "absl/types/span.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::transition {

struct Hop {
  int from = 0;
  int to = 0;
  int depth = 0;   // hops before it
  int after = -1;  // where `from` has it from; -1: it is the root
  friend bool operator==(const Hop&, const Hop&) = default;
};

// Each target is the end of one hop; hops by ascending depth. Chain `turn` of
// `turns` that go to the same targets. REQUIRES: targets ascending, not empty,
// without the root, ranks of the cluster; 0 <= turn < turns.
std::vector<Hop> ChainTree(const ClusterModel& cluster, int root,
                           absl::Span<const int> targets, int turn, int turns);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_CHAIN_TREE_H_
