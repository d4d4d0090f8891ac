// Staging: a previewed transition under a limit of memory, and how long it
// takes stage by stage.
#ifndef TRANSITION_PREVIEW_STAGING_H_
#define TRANSITION_PREVIEW_STAGING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/collective_options.h"
#include "transition/schedule/cost.h"
#include "transition/schedule/transfer_plan.h"
#include "transition/stage/plan_memory.h"
#include "transition/stage/stage_plan.h"

namespace dynatrain::transition {

struct StagingOptions {
  StageOptions stages;
  Granularity granularity = Granularity::kExtents;
  // Of each rank of the source world, memory that is dead while state moves, as
  // gradient buffers are at a step boundary: packing uses it first.
  int64_t dead_bytes = 0;
  // Of a page, if granularity is kExtents and memory goes by whole pages.
  int64_t extent_bytes = 1;
  // Moves above which nothing is staged: each takes some hundred bytes and a
  // few microseconds.
  int64_t max_moves = int64_t{4} << 20;
};

struct Staging {
  // Ranks are union indices; what ranks hold for others in collectives counts
  // in its peaks.
  StagePlan plan;
  int64_t extent_bytes = 1;  // StagingOptions
  // Of each stage, among ranks of the cluster; without collectives unless they
  // were asked for, and win in the stage.
  std::vector<TransferPlan> transfers;
  // That end up where they are needed, by stage.
  std::vector<int64_t> moved_bytes;
  int64_t transfer_ns = 0;  // of all stages, one after the other
  int64_t plain_ns = 0;     // the same, all of it point to point
  // Where there are several stages and collectives: stages that fill the
  // budget, or shorter ones that leave a part of it for relays.
  CostComparison costs;
};

// `places` are the ranks of the cluster by union index. Returns what PlanStages
// and PlanTransfer return; kOutOfRange if there are more moves than max_moves.
absl::StatusOr<Staging> StageOn(
    const PlanInput& input, const ClusterModel& cluster,
    const std::vector<int>& places, const ScheduleOptions& schedule,
    const StagingOptions& options,
    const std::optional<CollectiveOptions>& collectives);

// At least as many moves as the plan has; counts no further than `enough`.
int64_t CountMoves(const PlanInput& input, int64_t enough);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_STAGING_H_
