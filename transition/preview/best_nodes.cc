#include "transition/preview/best_nodes.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transition/plan/assignment.h"
#include "transition/plan/kept_matrix.h"

namespace dynatrain::transition {
namespace {

class Nodes {
 public:
  Nodes(const PlanInput& input, const std::vector<int>& source_nodes,
        int ranks_per_node, int num_nodes)
      : kept_(ComputeKeptMatrix(input)),
        ranks_per_node_(ranks_per_node),
        num_runs_((input.target().size() + ranks_per_node - 1) /
                  ranks_per_node),
        source_run_of_node_(num_nodes, -1) {
    for (int run = 0; run < static_cast<int>(source_nodes.size()); ++run) {
      source_run_of_node_[source_nodes[run]] = run;
    }
  }

  int num_runs() const { return num_runs_; }

  // Of the run of target ranks on the node; runs beyond the last are nothing.
  Worth WorthOf(int node, int run) const {
    const int source_run = source_run_of_node_[node];
    if (run >= num_runs_) return {};
    Worth worth = {.second = source_run >= 0, .third = node == run};
    for (int i = 0; source_run >= 0 && i < ranks_per_node_; ++i) {
      const int source = source_run * ranks_per_node_ + i;
      const int target = run * ranks_per_node_ + i;
      if (source >= kept_.source_size || target >= kept_.target_size) break;
      worth.bytes += kept_.at(source, target);
    }
    return worth;
  }

 private:
  const KeptMatrix kept_;
  const int ranks_per_node_;
  const int num_runs_;
  std::vector<int> source_run_of_node_;  // -1: the source isn't on it
};

}  // namespace

absl::StatusOr<NodeChoice> BestNodes(const PlanInput& input,
                                     const std::vector<int>& source_nodes,
                                     int ranks_per_node, int num_nodes) {
  const Nodes nodes(input, source_nodes, ranks_per_node, num_nodes);
  if (nodes.num_runs() > num_nodes || num_nodes > kMaxAssignmentSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("the layout fills ", nodes.num_runs(), " nodes of ",
                     num_nodes, "; there have to be as many, and at most ",
                     kMaxAssignmentSize, " to choose among"));
  }
  std::vector<Worth> worths;
  worths.reserve(static_cast<size_t>(num_nodes) * num_nodes);
  for (int node = 0; node < num_nodes; ++node) {
    for (int run = 0; run < num_nodes; ++run) {
      worths.push_back(nodes.WorthOf(node, run));
    }
  }
  const std::vector<int> run_of_node = BestAssignment(num_nodes, worths);
  NodeChoice choice = {std::vector<int>(nodes.num_runs(), -1)};
  for (int node = 0; node < num_nodes; ++node) {
    const int run = run_of_node[node];
    if (run >= nodes.num_runs()) continue;
    choice.nodes[run] = node;
    choice.kept_bytes += nodes.WorthOf(node, run).bytes;
  }
  return choice;
}

}  // namespace dynatrain::transition
