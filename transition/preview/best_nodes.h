// BestNodes: on which nodes of a cluster a world should lie, so that most of
// what its ranks are to hold is there already. Ranks fill nodes in order, so a
// node gets a run of ranks; which node gets which run is an assignment problem.
#ifndef TRANSITION_PREVIEW_BEST_NODES_H_
#define TRANSITION_PREVIEW_BEST_NODES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

struct NodeChoice {
  // The node of each run of target ranks; not ascending in general.
  std::vector<int> nodes;
  int64_t kept_bytes = 0;  // that stay in their processes if it lies so
};

// `source_nodes` are those of the source world's runs of `ranks_per_node`
// ranks. Of choices that keep equally many bytes, one in which most runs are on
// nodes that the source is on, then on the node of their own number. Returns
// kInvalidArgument if there are more runs than nodes, or more nodes than an
// assignment can be worked out for.
// REQUIRES: source_nodes lie in [0, num_nodes), ranks_per_node >= 1.
absl::StatusOr<NodeChoice> BestNodes(const PlanInput& input,
                                     const std::vector<int>& source_nodes,
                                     int ranks_per_node, int num_nodes);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_BEST_NODES_H_
