// A transfer with collectives, where processes lie on a cluster.
#ifndef TRANSITION_PREVIEW_PLACED_TRANSFER_H_
#define TRANSITION_PREVIEW_PLACED_TRANSFER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/transfer_plan.h"

namespace dynatrain::transition {

// Moves among other ranks: rank i becomes ranks[i]; of those, some may be -1
// where no move is. REQUIRES: ranks are below num_ranks, none is there twice.
Moves OnRanks(const Moves& moves, const std::vector<int>& ranks, int num_ranks);

// What PlanTransfer makes of the plan's moves. Ranks of the result are those of
// the cluster, `places` by union index; returns what MovesOf and PlanTransfer
// return.
absl::StatusOr<TransferPlan> PlanPlacedTransfer(const PlanInput& input,
                                                const ClusterModel& cluster,
                                                const std::vector<int>& places,
                                                const TransferOptions& options);

// The same of given moves.
absl::StatusOr<TransferPlan> PlanPlacedTransfer(const Moves& moves,
                                                const ClusterModel& cluster,
                                                const std::vector<int>& places,
                                                const TransferOptions& options);

// How many of its collectives are used.
int NumChosen(const TransferPlan& plan);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_PLACED_TRANSFER_H_
