#include "transition/preview/placed_transfer.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/status_macros.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"

namespace dynatrain::transition {

absl::StatusOr<TransferPlan> PlanPlacedTransfer(
    const PlanInput& input, const ClusterModel& cluster,
    const std::vector<int>& places, const TransferOptions& options) {
  ASSIGN_OR_RETURN(const Moves moves, MovesOf(input));
  std::vector<Move> placed(moves.all().begin(), moves.all().end());
  for (Move& move : placed) {
    move.sender = places[move.sender];
    move.receiver = places[move.receiver];
  }
  const int num_ranks = 1 + *std::max_element(places.begin(), places.end());
  ASSIGN_OR_RETURN(
      const Moves on_cluster,
      Moves::Create(num_ranks,
                    std::vector<int64_t>(moves.item_bytes().begin(),
                                         moves.item_bytes().end()),
                    std::move(placed)));
  return PlanTransfer(on_cluster, cluster, options);
}

int NumChosen(const TransferPlan& plan) {
  return static_cast<int>(
      std::count_if(plan.collectives.begin(), plan.collectives.end(),
                    [](const Collective& it) { return it.chosen(); }));
}

}  // namespace dynatrain::transition
