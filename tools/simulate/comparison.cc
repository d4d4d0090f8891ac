#include "tools/simulate/comparison.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "tools/simulate/job_cache.h"
#include "tools/simulate/placed_plan.h"
#include "tools/simulate/strategy.h"
#include "tools/simulate/switch_case.h"

namespace dynatrain::simulate {

absl::StatusOr<std::vector<StrategyTime>> Compare(
    const JobModel& model, const Placed& from, const Placed& to,
    const transition::ClusterModel& cluster, const SiteFigures& figures) {
  JobCache jobs(model, cluster);
  std::vector<StrategyTime> times;
  for (const std::unique_ptr<Strategy>& strategy : AllStrategies()) {
    // Behind ours.
    if (times.size() == 1) {
      ASSIGN_OR_RETURN(const RunningJob source,
                       jobs.Get(from.shape, /*sharded=*/true, from.nodes));
      ASSIGN_OR_RETURN(const RunningJob target,
                       jobs.Get(to.shape, /*sharded=*/true, to.nodes));
      ASSIGN_OR_RETURN(SwitchTime time,
                       TimeOfPlacedPlan(source, target, cluster, figures));
      times.push_back({"dynatrain-placed",
                       "this repository, transition/plan/relabel.h and "
                       "transition/schedule/transfer_plan.h",
                       std::move(time)});
    }
    const bool sharded = !strategy->replicates_optimizer();
    ASSIGN_OR_RETURN(RunningJob source,
                     jobs.Get(from.shape, sharded, from.nodes));
    ASSIGN_OR_RETURN(RunningJob target, jobs.Get(to.shape, sharded, to.nodes));
    ASSIGN_OR_RETURN(
        const SwitchCase change,
        SwitchCase::Create(std::move(source), std::move(target), cluster));
    ASSIGN_OR_RETURN(const Movement movement, strategy->Plan(change));
    ASSIGN_OR_RETURN(SwitchTime time, TimeOf(movement, cluster, figures));
    times.push_back({std::string(strategy->name()),
                     std::string(strategy->source()), std::move(time)});
  }
  return times;
}

const SwitchTime& TimeOfStrategy(const std::vector<StrategyTime>& times,
                                 absl::string_view strategy) {
  return std::find_if(
             times.begin(), times.end(),
             [&](const StrategyTime& it) { return it.strategy == strategy; })
      ->time;
}

}  // namespace dynatrain::simulate
