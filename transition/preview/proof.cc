#include "transition/preview/proof.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/check/check.h"
#include "transition/check/plan_claims.h"
#include "transition/plan/tensor_classes.h"
#include "transition/program/program.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"
#include "transition/schedule/programs.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {
namespace {

// At least as many as MovesOf gives, without making them.
int64_t CountMoves(const PlanInput& input, int64_t enough) {
  int64_t moves = 0;
  for (int rank = 0; rank < input.target().size() && moves <= enough; ++rank) {
    const TensorClasses classes(input, /*source_rank=*/-1, rank);
    for (const TensorClass& it : classes.all()) {
      int64_t of_tensor =
          static_cast<int64_t>(it.kept.size() + it.zeros.size());
      for (const Demand& demand : it.incoming)
        of_tensor += demand.senders.size();
      moves += of_tensor * it.num_tensors;
    }
  }
  return moves;
}

// Parcels are between places of the cluster, programs of processes.
Schedule AmongProcesses(Schedule schedule, const Preview& preview) {
  std::vector<int> process_at(preview.cluster.num_ranks(), -1);
  for (int i = 0; i < preview.place_of_process.size(); ++i) {
    process_at[preview.place_of_process[i]] = i;
  }
  for (Parcel& parcel : schedule.parcels) {
    parcel.sender = process_at[parcel.sender];
    parcel.receiver = process_at[parcel.receiver];
  }
  return schedule;
}

}  // namespace

absl::StatusOr<Proof> Prove(const PlanInput& input, const Preview& preview,
                            const ProofLimits& limits) {
  const int64_t moves_at_most = CountMoves(input, limits.max_moves);
  if (moves_at_most > limits.max_moves) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "check: more than ", limits.max_moves,
        " regions stay or move, the most that are checked at once; fewer "
        "ranks, or a model with fewer layers, show the same kinds of routes"));
  }
  ASSIGN_OR_RETURN(const Moves moves, MovesOf(input));
  std::vector<Schedule> schedules;
  for (const LaneChoice& lane : preview.schedule.lanes) {
    schedules.push_back(AmongProcesses(lane.schedule, preview));
  }
  const std::vector<Program> programs =
      MakePrograms(moves, schedules, input.AgreementDigest());
  Proof proof = {.num_programs = static_cast<int>(programs.size()),
                 .num_moves = static_cast<int64_t>(moves.all().size())};
  for (const Program& program : programs) {
    proof.num_operations += static_cast<int64_t>(program.operations.size());
  }
  proof.violations = CheckPrograms(ClaimsOf(input), programs);
  return proof;
}

}  // namespace dynatrain::transition
