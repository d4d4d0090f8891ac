// Preview: a transition as people decide on it, before anything moves: what
// stays and what moves, over which links, in which schedule, how long training
// would stand still and why, how far that is from the best there could be.
//
//   ASSIGN_OR_RETURN(PlanInput input, PlanInput::Create(source, target));
//   ASSIGN_OR_RETURN(ClusterModel cluster, ClusterModel::Create(figures));
//   ASSIGN_OR_RETURN(Preview preview, MakePreview(input, cluster, {}));
//   std::cout << preview.pause.DebugString();
//
// Pure and in integers: the same everywhere. It looks at the whole world; a
// process that carries the plan out doesn't.
//
// Ranks of a preview (traffic, schedule, loads) are those of the cluster:
// places, node by node. Where processes lie is an option.
#ifndef TRANSITION_PREVIEW_PREVIEW_H_
#define TRANSITION_PREVIEW_PREVIEW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"
#include "transition/preview/link_loads.h"
#include "transition/preview/pause.h"
#include "transition/preview/planned_bytes.h"
#include "transition/preview/staging.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/cost.h"
#include "transition/schedule/execution.h"
#include "transition/schedule/traffic.h"
#include "transition/schedule/transfer_plan.h"

namespace dynatrain::transition {

struct PreviewOptions {
  ScheduleOptions schedule;
  PauseFigures pause;
  // The rank of the cluster that each process lies on, by union index
  // (PlanInput::num_processes); empty: process i on rank i. For routes that
  // prefer their node, members of the worlds should be nodes of the cluster.
  std::vector<int> place_of_process;
  // Stages and peak memory. Left out unless asked for: they need every region
  // of the plan, which costs more than all the rest together.
  std::optional<StagingOptions> staging;
  // Collectives where they win, in each stage. Left out unless asked for, as
  // stages are. What ranks hold for others meanwhile fits into what budget and
  // limit of `staging` leave.
  std::optional<CollectiveOptions> collectives;
};

struct Preview {
  ClusterModel cluster;
  int source_size = 0;  // ranks
  int target_size = 0;
  int num_staying = 0;  // processes of both worlds
  std::vector<int> place_of_process;
  PlannedBytes bytes;
  Traffic traffic;
  LinkLoads loads;
  ScheduleChoice schedule;  // with the lower bounds
  Execution execution = Execution::kOrdered;
  int64_t slot_bytes = 0;          // in which ordered schedules go
  std::optional<Staging> staging;  // if it was asked for
  // In one stage, if collectives were asked for and some win. Then this is the
  // plan and `schedule` is what it would be without. (Of several stages:
  // `staging`.)
  std::optional<TransferPlan> transfer;
  // The longer lane of the schedule; of all stages, if there are several.
  int64_t transfer_ns = 0;
  Cost pause;

  int num_joining() const { return target_size - num_staying; }
  int num_leaving() const { return source_size - num_staying; }
  // 1'000'000 x the ideal time of the transfer / its time. The ideal is of
  // sending each receiver its own bytes: collectives can beat it.
  int64_t EfficiencyPpm() const {
    return schedule.bounds.EfficiencyPpm(transfer_ns);
  }
};

// Returns kInvalidArgument naming the field, its value and what would do if the
// cluster has too few ranks, a place is not on it or taken twice, or an option
// is out of range; kFailedPrecondition if the source world is empty: there is
// nothing to move then. With staging, kResourceExhausted naming the rank and
// the smallest limit and budget that would do if memory is too small.
absl::StatusOr<Preview> MakePreview(const PlanInput& input,
                                    const ClusterModel& cluster,
                                    const PreviewOptions& options = {});

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_PREVIEW_H_
