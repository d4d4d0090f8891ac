#include "transition/preview/placed_transfer.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/status_macros.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"

namespace dynatrain::transition {

Moves OnRanks(const Moves& moves, const std::vector<int>& ranks,
              int num_ranks) {
  std::vector<Move> moved(moves.all().begin(), moves.all().end());
  for (Move& move : moved) {
    move.sender = ranks[move.sender];
    move.receiver = ranks[move.receiver];
    if (move.after >= 0) move.after = ranks[move.after];
  }
  // As valid as they were.
  return *Moves::Create(num_ranks,
                        std::vector<int64_t>(moves.item_bytes().begin(),
                                             moves.item_bytes().end()),
                        std::move(moved));
}

absl::StatusOr<TransferPlan> PlanPlacedTransfer(
    const PlanInput& input, const ClusterModel& cluster,
    const std::vector<int>& places, const TransferOptions& options) {
  ASSIGN_OR_RETURN(const Moves moves, MovesOf(input));
  return PlanPlacedTransfer(moves, cluster, places, options);
}

absl::StatusOr<TransferPlan> PlanPlacedTransfer(
    const Moves& moves, const ClusterModel& cluster,
    const std::vector<int>& places, const TransferOptions& options) {
  const int num_ranks = 1 + *std::max_element(places.begin(), places.end());
  return PlanTransfer(OnRanks(moves, places, num_ranks), cluster, options);
}

int NumChosen(const TransferPlan& plan) {
  return static_cast<int>(
      std::count_if(plan.collectives.begin(), plan.collectives.end(),
                    [](const Collective& it) { return it.chosen(); }));
}

}  // namespace dynatrain::transition
