#include "transition/stage/stage_testutil.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "transition/check/check.h"
#include "transition/check/plan_claims.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "transition/schedule/plan_moves.h"
#include "transition/stage/staged_programs.h"

namespace dynatrain::transition {

StageCase MakeStageCase(PlanInput input, int64_t scale,
                        Granularity granularity) {
  const Moves moves = *MovesOf(input);
  std::vector<int64_t> item_bytes;
  for (const int64_t bytes : moves.item_bytes()) {
    item_bytes.push_back(bytes * scale);
  }
  Moves scaled = *Moves::Create(moves.num_ranks(), std::move(item_bytes),
                                {moves.all().begin(), moves.all().end()});
  WorldMemory memory = MemoryOf(input, granularity);
  return {std::move(input), scale, std::move(scaled), std::move(memory)};
}

StageCase RandomStageCase(int i, std::mt19937_64& random,
                          Granularity granularity) {
  for (;;) {
    PlanInput input = i % 2 == 0 ? *MakeInput(RandomCase(random))
                                 : *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    return MakeStageCase(std::move(input), int64_t{1} << (14 + random() % 9),
                         granularity);
  }
}

int NumCases(int in_short, int in_long) {
  return std::getenv("DYNATRAIN_LONG") == nullptr ? in_short : in_long;
}

std::vector<std::vector<Schedule>> SchedulesOf(const StagePlan& plan,
                                               const ClusterModel& cluster,
                                               const ScheduleOptions& options) {
  std::vector<std::vector<Schedule>> schedules;
  for (const Stage& stage : plan.stages) {
    schedules.emplace_back();
    const ScheduleChoice choice =
        *ChooseSchedule(stage.moves.ToTraffic(), cluster, options);
    for (const LaneChoice& lane : choice.lanes) {
      schedules.back().push_back(lane.schedule);
    }
  }
  return schedules;
}

std::vector<Program> RandomPrograms(const StageCase& it, const StagePlan& plan,
                                    std::mt19937_64& random) {
  const int ranks_per_node = 1 + static_cast<int>(random() % 5);
  const ClusterModel cluster = *ClusterModel::Create(
      {.num_nodes =
           (it.moves.num_ranks() + ranks_per_node - 1) / ranks_per_node,
       .ranks_per_node = ranks_per_node,
       .nics_per_node = ranks_per_node,
       .inside_bytes_per_second = 200'000'000'000,
       .nic_bytes_per_second = 25'000'000'000});
  const ScheduleOptions options = {
      .execution =
          random() % 2 == 0 ? Execution::kOrdered : Execution::kGrouped,
      .list = {.unit_bytes = 4096 << (random() % 10)},
      .max_window_bytes = int64_t{1} << (22 + random() % 6)};
  return MakeStagedPrograms(plan, SchedulesOf(plan, cluster, options),
                            it.input.AgreementDigest());
}

Claims ClaimsWith(const StageCase& it, const std::vector<int64_t>& limits) {
  Claims claims = ClaimsOf(it.input);
  for (int64_t& bytes : claims.item_bytes) bytes *= it.scale;
  for (size_t rank = 0; rank < claims.ranks.size(); ++rank) {
    claims.ranks[rank].limit_bytes = limits[rank];
    claims.ranks[rank].extent_bytes = it.memory[rank].extent_bytes;
  }
  return claims;
}

std::vector<int64_t> PeaksOf(const StagePlan& plan) {
  std::vector<int64_t> peaks;
  for (const RankPeak& it : plan.ranks) peaks.push_back(it.peak_bytes);
  return peaks;
}

std::vector<int64_t> TightLimits(const StagePlan& plan) {
  std::vector<int64_t> limits;
  for (const RankPeak& it : plan.ranks) {
    limits.push_back(std::max(it.source_bytes, it.target_bytes) +
                     plan.options.budget_bytes);
  }
  return limits;
}

Violations CheckStages(const StageCase& it, const StagePlan& plan,
                       std::mt19937_64& random) {
  return CheckPrograms(ClaimsWith(it, PeaksOf(plan)),
                       RandomPrograms(it, plan, random));
}

}  // namespace dynatrain::transition
