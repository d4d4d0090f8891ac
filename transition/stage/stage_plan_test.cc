#include "transition/stage/stage_plan.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/check/plan_claims.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"
#include "transition/stage/plan_memory.h"
#include "transition/stage/staged_programs.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A plan of small tensors whose elements are large, so that budgets of 64 MiB
// and more cut it in many stages.
struct Case {
  PlanInput input;
  int64_t scale = 1;
  Moves moves;
  WorldMemory memory;
};

Case MakeCase(PlanInput input, int64_t scale) {
  const Moves moves = *MovesOf(input);
  std::vector<int64_t> item_bytes;
  for (const int64_t bytes : moves.item_bytes()) {
    item_bytes.push_back(bytes * scale);
  }
  Moves scaled = *Moves::Create(moves.num_ranks(), std::move(item_bytes),
                                {moves.all().begin(), moves.all().end()});
  WorldMemory memory = MemoryOf(input);
  return {std::move(input), scale, std::move(scaled), std::move(memory)};
}

// From random worlds of any layouts; their tensors all are some MiB.
Case RandomLargeCase(int i, std::mt19937_64& random) {
  for (;;) {
    PlanInput input = i % 2 == 0 ? *MakeInput(RandomCase(random))
                                 : *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    return MakeCase(std::move(input), int64_t{1} << (16 + random() % 7));
  }
}

ClusterModel ClusterFor(int ranks, int ranks_per_node) {
  return *ClusterModel::Create(
      {.num_nodes = (ranks + ranks_per_node - 1) / ranks_per_node,
       .ranks_per_node = ranks_per_node,
       .nics_per_node = ranks_per_node,
       .inside_bytes_per_second = 200'000'000'000,
       .nic_bytes_per_second = 25'000'000'000});
}

std::vector<Program> ProgramsFor(const Case& it, const StagePlan& plan,
                                 std::mt19937_64& random) {
  const ScheduleOptions options = {
      .execution =
          random() % 2 == 0 ? Execution::kOrdered : Execution::kGrouped,
      .list = {.unit_bytes = 4096 << (random() % 10)},
      .max_window_bytes = int64_t{1} << (22 + random() % 6)};
  const ClusterModel cluster =
      ClusterFor(it.moves.num_ranks(), 1 + static_cast<int>(random() % 5));
  std::vector<std::vector<Schedule>> schedules;
  for (const Stage& stage : plan.stages) {
    schedules.emplace_back();
    const ScheduleChoice choice =
        *ChooseSchedule(stage.moves.ToTraffic(), cluster, options);
    for (const LaneChoice& lane : choice.lanes) {
      schedules.back().push_back(lane.schedule);
    }
  }
  return MakeStagedPrograms(plan, schedules, it.input.AgreementDigest());
}

Claims ClaimsFor(const Case& it, const std::vector<int64_t>& limits) {
  Claims claims = ClaimsOf(it.input);
  for (int64_t& bytes : claims.item_bytes) bytes *= it.scale;
  for (size_t rank = 0; rank < claims.ranks.size(); ++rank) {
    claims.ranks[rank].limit_bytes = limits[rank];
  }
  return claims;
}

std::vector<int64_t> Peaks(const StagePlan& plan) {
  std::vector<int64_t> peaks;
  for (const RankPeak& it : plan.ranks) peaks.push_back(it.peak_bytes);
  return peaks;
}

// Tight mode within max(source, target) + budget, by the checker, for any
// worlds; and the peaks that are printed are those of the programs.
TEST(StagePlanTest, TightModeKeepsItsPromise) {
  std::mt19937_64 random = TestRandom(81);
  int staged = 0;
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const Case it = RandomLargeCase(i, random);
    StageOptions options = {
        .mode = StageMode::kTight,
        .budget_bytes = kMinBudgetBytes << (random() % 2),
        .port_staging_bytes = int64_t{1} << (18 + random() % 14)};
    absl::StatusOr<StagePlan> plan = PlanStages(it.moves, it.memory, options);
    if (!plan.ok()) {
      ++refused;
      ASSERT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted)
          << plan.status();
      // What it says would do does, and less doesn't.
      options.budget_bytes =
          PlanStages(it.moves, it.memory, {})->smallest_budget_bytes;
      options.port_staging_bytes = StageOptions().port_staging_bytes;
      plan = PlanStages(it.moves, it.memory, options);
      ASSERT_TRUE(plan.ok()) << plan.status();
    }
    std::vector<int64_t> limits;
    for (const RankPeak& rank : plan->ranks) {
      limits.push_back(std::max(rank.source_bytes, rank.target_bytes) +
                       options.budget_bytes);
      ASSERT_LE(rank.peak_bytes, limits.back());
    }
    const std::vector<Program> programs = ProgramsFor(it, *plan, random);
    ASSERT_THAT(CheckPrograms(ClaimsFor(it, Peaks(*plan)), programs), IsEmpty())
        << "case " << i;
    staged += plan->stages.size() > 1;
  }
  RecordProperty("staged", staged);
  RecordProperty("refused", refused);
  std::cout << staged << " in several stages, " << refused << " refused\n";
  EXPECT_GT(staged, 20);
}

}  // namespace
}  // namespace dynatrain::transition
