// Comparison: one change of layout by every strategy, on one cluster.
#ifndef TOOLS_SIMULATE_COMPARISON_H_
#define TOOLS_SIMULATE_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/simulate/costs.h"
#include "tools/simulate/shape.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::simulate {

// A layout on nodes of a cluster, in that order.
struct Placed {
  Shape shape;
  std::vector<int> nodes;
};

struct StrategyTime {
  std::string strategy;
  std::string source;
  SwitchTime time;
};

// In the order of AllStrategies, with "dynatrain-placed" (placed_plan.h) behind
// the first. Returns kInvalidArgument if a layout is not
// possible.
absl::StatusOr<std::vector<StrategyTime>> Compare(
    const JobModel& model, const Placed& from, const Placed& to,
    const transition::ClusterModel& cluster, const SiteFigures& figures);

// Times of `strategy` in a comparison. REQUIRES: it is there.
const SwitchTime& TimeOfStrategy(const std::vector<StrategyTime>& times,
                                 absl::string_view strategy);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_COMPARISON_H_
