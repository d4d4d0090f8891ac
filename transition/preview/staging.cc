#include "transition/preview/staging.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/plan/tensor_classes.h"
#include "transition/preview/placed_traffic.h"
#include "transition/schedule/plan_moves.h"

namespace dynatrain::transition {

absl::StatusOr<Staging> StageOn(const PlanInput& input,
                                const ClusterModel& cluster,
                                const std::vector<int>& places,
                                const ScheduleOptions& schedule,
                                const StagingOptions& options) {
  if (CountMoves(input, options.max_moves) > options.max_moves) {
    return absl::OutOfRangeError(
        absl::StrCat("more than ", options.max_moves,
                     " regions stay or move, the most that are staged"));
  }
  ASSIGN_OR_RETURN(const Moves moves, MovesOf(input));
  ASSIGN_OR_RETURN(
      StagePlan plan,
      PlanStages(moves, MemoryOf(input, options.granularity), options.stages));
  Staging staging = {.plan = std::move(plan)};
  for (const Stage& stage : staging.plan.stages) {
    const Traffic among_processes = stage.moves.ToTraffic();
    ASSIGN_OR_RETURN(const Traffic traffic,
                     PlacedTraffic(among_processes.flows(), places));
    ASSIGN_OR_RETURN(ScheduleChoice choice,
                     ChooseSchedule(traffic, cluster, schedule));
    staging.transfer_ns += choice.ns;
    staging.schedules.push_back(std::move(choice));
  }
  return staging;
}

int64_t CountMoves(const PlanInput& input, int64_t enough) {
  int64_t moves = 0;
  for (int rank = 0; rank < input.target().size() && moves <= enough; ++rank) {
    TensorClasses classes(input, /*source_rank=*/-1, rank);
    classes.ForEachTensor([&](int tensor) {
      const TensorClass& it = classes.Of(tensor);
      moves += static_cast<int64_t>(it.kept.size() + it.zeros.size());
      for (const Demand& demand : it.incoming) moves += demand.senders.size();
    });
  }
  return moves;
}

}  // namespace dynatrain::transition
