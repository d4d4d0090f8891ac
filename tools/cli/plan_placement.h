// Where the two worlds of a plan lie on the cluster: --from-nodes, --to-nodes
// and --relabel.
#ifndef TOOLS_CLI_PLAN_PLACEMENT_H_
#define TOOLS_CLI_PLAN_PLACEMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/command_line.h"
#include "transition/plan/make_input.h"
#include "transition/schedule/cluster_model.h"
#include "vps/layout/layout.h"

namespace dynatrain::cli {

// The values of these options; "" if they are not given.
struct PlacementOptions {
  std::string from_nodes;
  std::string to_nodes;
  std::string relabel;

  static PlacementOptions Of(const CommandLine& line) {
    return {line.Get("from-nodes"), line.Get("to-nodes"), line.Get("relabel")};
  }
};

struct PlacedPlan {
  transition::MadeInput made;
  // Of each run of as many ranks as a node has; where relabeling tears nodes
  // apart, the target's are those it has, in the given order.
  std::vector<int> from_nodes;
  std::vector<int> to_nodes;
  // Of the processes, by union index: ranks of the cluster.
  std::vector<int> places;
  std::string order;  // what relabeling did, for people; "" if nothing
};

// Processes are known by their places, members of the worlds are nodes. Returns
// kInvalidArgument naming the option if there are not so many nodes, or what
// MakePlanInput returns.
absl::StatusOr<PlacedPlan> PlacePlan(
    const PlacementOptions& options,
    const transition::InputOptions& input_options,
    const transition::ClusterModel& cluster, vps::Layout from, vps::Layout to);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PLAN_PLACEMENT_H_
