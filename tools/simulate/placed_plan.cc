#include "tools/simulate/placed_plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tools/simulate/dynatrain_strategy.h"
#include "tools/simulate/movement.h"
#include "transition/plan/relabel.h"
#include "transition/preview/placed_transfer.h"
#include "transition/preview/staging.h"

namespace dynatrain::simulate {
namespace {

// Above, collectives are not looked for: that goes through every region.
constexpr int64_t kMaxMoves = int64_t{1} << 20;

absl::StatusOr<int64_t> CollectiveNs(const SwitchCase& change,
                                     const SiteFigures& figures) {
  std::vector<int> places;
  for (int i = 0; i < change.input().num_processes(); ++i) {
    places.push_back(change.UnionOn(i));
  }
  transition::TransferOptions options;
  options.schedule.execution = figures.execution;
  ASSIGN_OR_RETURN(
      const transition::TransferPlan transfer,
      PlanPlacedTransfer(change.input(), change.cluster(), places, options));
  return transfer.ns;
}

absl::StatusOr<SwitchTime> TimeOfPlan(const SwitchCase& change,
                                      const SiteFigures& figures) {
  ASSIGN_OR_RETURN(
      const Movement movement,
      DynaTrainStrategy(DynaTrainStrategy::Weights::kMoved).Plan(change));
  ASSIGN_OR_RETURN(SwitchTime time,
                   TimeOf(movement, change.cluster(), figures));
  if (transition::CountMoves(change.input(), kMaxMoves) > kMaxMoves) {
    return time;
  }
  ASSIGN_OR_RETURN(const int64_t ns, CollectiveNs(change, figures));
  for (PhaseTime& phase : time.phases) {
    if (phase.resource == Resource::kNetwork) phase.ns = std::min(phase.ns, ns);
  }
  return time;
}

}  // namespace

absl::StatusOr<SwitchTime> TimeOfPlacedPlan(
    const RunningJob& source, const RunningJob& target,
    const transition::ClusterModel& cluster, const SiteFigures& figures) {
  ASSIGN_OR_RETURN(const SwitchCase as_given,
                   SwitchCase::Create(source, target, cluster));
  ASSIGN_OR_RETURN(SwitchTime given, TimeOfPlan(as_given, figures));
  ASSIGN_OR_RETURN(
      transition::Relabeling relabeling,
      Relabel(as_given.input(), {.unit = transition::RelabelUnit::kMember}));
  ASSIGN_OR_RETURN(
      const SwitchCase reordered,
      SwitchCase::Create(source, {std::move(relabeling.target), target.ranks},
                         cluster));
  ASSIGN_OR_RETURN(SwitchTime relabeled, TimeOfPlan(reordered, figures));
  return relabeled.ns() < given.ns() ? relabeled : given;
}

}  // namespace dynatrain::simulate
