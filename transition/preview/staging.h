// Staging: a previewed transition under a limit of memory, and how long it
// takes stage by stage.
#ifndef TRANSITION_PREVIEW_STAGING_H_
#define TRANSITION_PREVIEW_STAGING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/cluster_model.h"
#include "transition/stage/plan_memory.h"
#include "transition/stage/stage_plan.h"

namespace dynatrain::transition {

struct StagingOptions {
  StageOptions stages;
  Granularity granularity = Granularity::kExtents;
  // Moves above which nothing is staged: each takes some hundred bytes and a
  // few microseconds.
  int64_t max_moves = int64_t{4} << 20;
};

struct Staging {
  StagePlan plan;  // ranks are union indices
  // Of each stage, among ranks of the cluster.
  std::vector<ScheduleChoice> schedules;
  int64_t transfer_ns = 0;  // of all stages, one after the other
};

// `places` are the ranks of the cluster by union index. Returns what PlanStages
// and ChooseSchedule return; kOutOfRange if there are more moves than
// max_moves.
absl::StatusOr<Staging> StageOn(const PlanInput& input,
                                const ClusterModel& cluster,
                                const std::vector<int>& places,
                                const ScheduleOptions& schedule,
                                const StagingOptions& options);

// At least as many moves as the plan has; counts no further than `enough`.
int64_t CountMoves(const PlanInput& input, int64_t enough);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_STAGING_H_
