// PlanRequest: what the options of `dynatrain plan` name, loaded and put on the
// cluster.
#ifndef TOOLS_CLI_PLAN_REQUEST_H_
#define TOOLS_CLI_PLAN_REQUEST_H_

#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/cluster_file/cluster_file.h"
#include "tools/cli/command_line.h"
#include "tools/cli/plan_placement.h"
#include "transition/plan/make_input.h"
#include "transition/plan/plan_input.h"
#include "transition/preview/staging.h"

namespace dynatrain::cli {

// One of the two layouts.
struct PlanSide {
  std::string text;  // as it was given
  std::vector<int>
      nodes;  // of the cluster, in the order in which it fills them
};

struct PlanRequest {
  std::string model;  // as it was called; "" if nobody said
  PlanSide from;
  PlanSide to;
  std::string cluster_name;
  api::ClusterFile cluster;
  transition::PlanInput input;
  transition::InputOptions input_options;
  // What was weighed for the input.
  transition::Regeneration weights;
  transition::SenderBalance balance;
  // Of the processes, by union index: ranks of the cluster.
  std::vector<int> places;
  PlacementOptions placement;
  std::string order;  // what --relabel did, for people; "" if nothing
  transition::StagingOptions staging;  // its limit is 0 if memory is unknown
};

// Errors begin with the option or the path of the file. kInvalidArgument and
// kFailedPrecondition: the command line or a layout; others: a file.
absl::StatusOr<PlanRequest> LoadPlanRequest(const CommandLine& line,
                                            std::istream& in);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PLAN_REQUEST_H_
