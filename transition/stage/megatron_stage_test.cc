// Stages of real jobs: Megatron's dense, MoE and uneven layouts with ZeRO-1.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/world.h"
#include "transition/stage/stage_plan.h"
#include "transition/stage/stage_testutil.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/model/model_config.h"
#include "vps/model/state_list.h"

namespace dynatrain::transition {
namespace {

using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Pointwise;
using vps::ModelConfig;
using vps::StateList;
using vps::megatron::MakeMegatronLayout;
using vps::megatron::MegatronConfig;
using vps::megatron::MegatronOptions;

World Job(const ModelConfig& model, const MegatronOptions& options,
          int first_id) {
  vps::Layout layout =
      MakeMegatronLayout(model, *MegatronConfig::Create(options),
                         *StateList::Preset("bf16-mixed"))
          ->layout();
  std::vector<Process> processes;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    processes.push_back({static_cast<uint64_t>(first_id + rank),
                         static_cast<uint32_t>(rank / 8)});
  }
  return *World::Create(std::move(layout), std::move(processes));
}

struct Change {
  const char* name;
  bool moe;
  MegatronOptions before;
  MegatronOptions after;
};

const Change kChanges[] = {
    {"dense: tp to pp",
     false,
     {.ranks = {.world = 8, .tp = 4}},
     {.ranks = {.world = 8, .tp = 2, .pp = 2}}},
    {"dense: dp 4 to 3, ZeRO",
     false,
     {.ranks = {.world = 8, .tp = 2}},
     {.ranks = {.world = 6, .tp = 2}}},
    {"dense: uneven stages",
     false,
     {.ranks = {.world = 6, .pp = 3}, .first_stage_layers = 2},
     {.ranks = {.world = 4, .pp = 2}, .last_stage_layers = 1}},
    {"moe: ep 4 to 2",
     true,
     {.ranks = {.world = 8, .tp = 2, .ep = 4, .etp = 1}},
     {.ranks = {.world = 8, .tp = 2, .pp = 2, .ep = 2, .etp = 1}}},
};

ModelConfig Tiny(bool moe) {
  vps::ModelNumbers numbers = {
      .hidden = 64, .layers = 4, .heads = 8, .ffn = 128, .vocabulary = 256};
  if (moe) numbers.experts = vps::ExpertNumbers{.count = 8, .ffn = 64};
  return *ModelConfig::Create(numbers);
}

// Budget + the larger world, by the checker, with the same processes, with
// others, and with some.
TEST(MegatronStageTest, TightModeKeepsItsPromise) {
  std::mt19937_64 random = TestRandom(85);
  for (const Change& change : kChanges) {
    for (const int first_id : {1, 5, 101}) {
      const ModelConfig model = Tiny(change.moe);
      const StageCase it =
          MakeStageCase(*PlanInput::Create(Job(model, change.before, 1),
                                           Job(model, change.after, first_id)),
                        /*scale=*/1 << 14);
      const absl::StatusOr<StagePlan> plan = PlanStages(
          it.moves, it.memory,
          {.mode = StageMode::kTight, .budget_bytes = kMinBudgetBytes});
      ASSERT_TRUE(plan.ok()) << change.name << ": " << plan.status();
      EXPECT_THAT(PeaksOf(*plan), Pointwise(Le(), TightLimits(*plan)));
      std::cout << change.name << ", ids from " << first_id << ": "
                << plan->DebugString();
      ASSERT_THAT(CheckStages(it, *plan, random), IsEmpty()) << change.name;
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
