#include "transition/preview/proof.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/check/check.h"
#include "transition/check/plan_claims.h"
#include "transition/preview/placed_traffic.h"
#include "transition/preview/staging.h"
#include "transition/program/program.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"
#include "transition/schedule/programs.h"
#include "transition/schedule/schedule.h"
#include "transition/stage/staged_programs.h"

namespace dynatrain::transition {
namespace {

std::vector<Schedule> SchedulesOf(const ScheduleChoice& choice,
                                  const std::vector<int>& places) {
  std::vector<Schedule> schedules;
  for (const LaneChoice& lane : choice.lanes) {
    schedules.push_back(AmongProcesses(lane.schedule, places));
  }
  return schedules;
}

std::vector<RankClaims> OnPlaces(std::vector<RankClaims> claims,
                                 const std::vector<int>& places,
                                 int num_ranks) {
  std::vector<RankClaims> placed(num_ranks);
  for (size_t i = 0; i < claims.size(); ++i) {
    placed[places[i]] = std::move(claims[i]);
  }
  return placed;
}

std::vector<Program> StagedPrograms(const Staging& staging,
                                    const std::vector<int>& places,
                                    const Fingerprint& digest) {
  std::vector<std::vector<Schedule>> schedules;
  for (const TransferPlan& transfer : staging.transfers) {
    schedules.emplace_back();
    for (Schedule& it : transfer.Schedules()) {
      schedules.back().push_back(AmongProcesses(std::move(it), places));
    }
  }
  return MakeStagedPrograms(staging.plan, schedules, digest);
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
  Claims claims = ClaimsOf(input);
  const std::vector<int>& places = preview.place_of_process;
  Proof proof;
  std::vector<Program> programs;
  if (preview.staging.has_value()) {
    const StagePlan& plan = preview.staging->plan;
    for (const Stage& stage : plan.stages) {
      proof.num_moves += static_cast<int64_t>(stage.moves.all().size());
    }
    for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
      claims.ranks[rank].limit_bytes = plan.ranks[rank].peak_bytes;
      claims.ranks[rank].extent_bytes = preview.staging->extent_bytes;
    }
    programs = StagedPrograms(*preview.staging, places, claims.plan_digest);
  } else if (preview.transfer.has_value()) {
    // Among ranks of the cluster; those where nobody lies do nothing.
    const Moves& moves = preview.transfer->moves;
    claims.ranks = OnPlaces(std::move(claims.ranks), places, moves.num_ranks());
    proof.num_moves = static_cast<int64_t>(moves.all().size());
    programs =
        MakePrograms(moves, preview.transfer->Schedules(), claims.plan_digest);
  } else {
    ASSIGN_OR_RETURN(const Moves moves, MovesOf(input));
    proof.num_moves = static_cast<int64_t>(moves.all().size());
    programs = MakePrograms(moves, SchedulesOf(preview.schedule, places),
                            claims.plan_digest);
  }
  proof.num_programs = static_cast<int>(programs.size());
  for (const Program& program : programs) {
    proof.num_operations += static_cast<int64_t>(program.operations.size());
  }
  proof.violations = CheckPrograms(claims, programs);
  return proof;
}

}  // namespace dynatrain::transition
