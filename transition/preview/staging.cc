#include "transition/preview/staging.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/plan/tensor_classes.h"
#include "transition/preview/placed_traffic.h"
#include "transition/preview/placed_transfer.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"
#include "transition/stage/stage_collectives.h"

namespace dynatrain::transition {

namespace {

class Stager {
 public:
  Stager(const ClusterModel& cluster, const std::vector<int>& places,
         const ScheduleOptions& schedule,
         const std::optional<CollectiveOptions>& collectives,
         int64_t extent_bytes)
      : cluster_(cluster),
        places_(places),
        process_at_(ProcessesAt(places)),
        schedule_(schedule),
        collectives_(collectives),
        extent_bytes_(extent_bytes) {}

  absl::StatusOr<Staging> Transfer(StagePlan plan) const {
    Staging staging = {.plan = std::move(plan), .extent_bytes = extent_bytes_};
    for (int i = 0; i < static_cast<int>(staging.plan.stages.size()); ++i) {
      RETURN_IF_ERROR(AddStage(i, staging));
    }
    return staging;
  }

  // The faster of the two ways; `plan` fills the budget.
  absl::StatusOr<Staging> Faster(const Moves& moves, const WorldMemory& memory,
                                 StagePlan plan) const {
    const StageOptions options = plan.options;
    ASSIGN_OR_RETURN(Staging full, Transfer(std::move(plan)));
    const int64_t relayed = std::min(
        {collectives_.has_value() ? collectives_->max_staging_bytes : 0,
         options.budget_bytes / 2, options.budget_bytes - kMinBudgetBytes});
    if (relayed <= 0 || full.plan.stages.size() < 2) return full;
    full.costs.ways.push_back(CostOf("stages that fill the budget", full));
    absl::StatusOr<StagePlan> shorter =
        PlanStages(moves, memory, Less(options, relayed));
    if (!shorter.ok()) return full;
    // What it was planned without is there for relays.
    shorter->options = options;
    for (RankPeak& it : shorter->ranks) it.allowed_bytes += relayed;
    ASSIGN_OR_RETURN(Staging with_room, Transfer(*std::move(shorter)));
    full.costs.ways.push_back(
        CostOf(absl::StrCat("stages that leave ", relayed, " bytes for relays"),
               with_room));
    if (with_room.transfer_ns >= full.transfer_ns) return full;
    with_room.costs = std::move(full.costs);
    with_room.costs.chosen = 1;
    return with_room;
  }

 private:
  absl::Status AddStage(int i, Staging& staging) const {
    const Moves& moves = staging.plan.stages[i].moves;
    TransferOptions options = {.schedule = schedule_};
    if (collectives_.has_value()) {
      options.collectives = *collectives_;
      options.collectives.max_staging_bytes = std::min(
          options.collectives.max_staging_bytes, RelayRoom(staging.plan, i));
    } else {
      options.collectives.max_ranks = 1;  // none
    }
    ASSIGN_OR_RETURN(TransferPlan transfer,
                     PlanPlacedTransfer(moves, cluster_, places_, options));
    staging.moved_bytes.push_back(moves.ToTraffic().total_bytes());
    if (NumChosen(transfer) > 0 &&
        !UseMoves(OnRanks(transfer.moves, process_at_, moves.num_ranks()), i,
                  staging.plan)) {
      options.collectives.max_ranks = 1;
      ASSIGN_OR_RETURN(transfer,
                       PlanPlacedTransfer(moves, cluster_, places_, options));
    }
    staging.transfer_ns += transfer.ns;
    staging.plain_ns += transfer.plain_ns;
    staging.transfers.push_back(std::move(transfer));
    return absl::OkStatus();
  }

  static StageOptions Less(StageOptions options, int64_t bytes) {
    options.mode = StageMode::kTight;
    options.budget_bytes -= bytes;
    if (options.limit_bytes > 0) {
      options.limit_bytes = std::max<int64_t>(1, options.limit_bytes - bytes);
    }
    return options;
  }

  static Cost CostOf(std::string name, const Staging& staging) {
    return {std::move(name),
            {{absl::StrCat(staging.plan.stages.size(), " stages"),
              staging.transfer_ns}}};
  }

  const ClusterModel& cluster_;
  const std::vector<int>& places_;
  const std::vector<int> process_at_;
  const ScheduleOptions& schedule_;
  const std::optional<CollectiveOptions>& collectives_;
  const int64_t extent_bytes_;
};

}  // namespace

absl::StatusOr<Staging> StageOn(
    const PlanInput& input, const ClusterModel& cluster,
    const std::vector<int>& places, const ScheduleOptions& schedule,
    const StagingOptions& options,
    const std::optional<CollectiveOptions>& collectives) {
  if (CountMoves(input, options.max_moves) > options.max_moves) {
    return absl::OutOfRangeError(
        absl::StrCat("more than ", options.max_moves,
                     " regions stay or move, the most that are staged"));
  }
  ASSIGN_OR_RETURN(const Moves moves, MovesOf(input));
  const WorldMemory memory = MemoryOf(input, options.granularity,
                                      options.dead_bytes, options.extent_bytes);
  ASSIGN_OR_RETURN(StagePlan plan, PlanStages(moves, memory, options.stages));
  const Stager stager(cluster, places, schedule, collectives,
                      options.extent_bytes);
  if (plan.mode == StageMode::kSafe) return stager.Transfer(std::move(plan));
  return stager.Faster(moves, memory, std::move(plan));
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
