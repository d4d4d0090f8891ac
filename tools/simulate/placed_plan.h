// The plan with what `dynatrain plan` offers beside it: the new layout's nodes
// in the order that keeps most (--relabel nodes: each run of ranks stays on one
// node, so steps are as fast as before), and collectives where they win. Only
// for a single change: a trace goes on from where nodes were asked to be.
#ifndef TOOLS_SIMULATE_PLACED_PLAN_H_
#define TOOLS_SIMULATE_PLACED_PLAN_H_

#include "absl/status/statusor.h"
#include "tools/simulate/costs.h"
#include "tools/simulate/switch_case.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::simulate {

// The faster of both orders, as given and relabeled. Returns what
// SwitchCase::Create and Relabel return.
absl::StatusOr<SwitchTime> TimeOfPlacedPlan(
    const RunningJob& source, const RunningJob& target,
    const transition::ClusterModel& cluster, const SiteFigures& figures);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_PLACED_PLAN_H_
