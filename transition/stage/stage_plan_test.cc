#include "transition/stage/stage_plan.h"

#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/check/violation.h"
#include "transition/program/program.h"
#include "transition/schedule/moves.h"
#include "transition/stage/stage_testutil.h"
#include "transition/stage/world_memory.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Pointwise;
using vps::Box;

constexpr int64_t kMiB = int64_t{1} << 20;

StageOptions RandomOptions(StageMode mode, std::mt19937_64& random) {
  return {.mode = mode,
          .budget_bytes = kMinBudgetBytes << (random() % 2),
          .port_staging_bytes = int64_t{1} << (18 + random() % 14)};
}

// Tight mode within max(source, target) + budget, by the checker, for any
// worlds; and what is told of peaks and least budgets is true.
TEST(StagePlanTest, TightModeKeepsItsPromise) {
  std::mt19937_64 random = TestRandom(81);
  int staged = 0;
  int refused = 0;
  for (int i = 0; i < NumCases(300, 6000); ++i) {
    StageCase it = RandomStageCase(i, random);
    for (RankMemory& rank : it.memory) {
      if (random() % 2 == 0) rank.dead_bytes = (random() % 100) * kMiB;
    }
    StageOptions options = RandomOptions(StageMode::kTight, random);
    absl::StatusOr<StagePlan> plan = PlanStages(it.moves, it.memory, options);
    if (!plan.ok()) {
      ++refused;
      ASSERT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted)
          << plan.status();
      options.budget_bytes = int64_t{1} << 50;
      options.budget_bytes =
          PlanStages(it.moves, it.memory, options)->smallest_budget_bytes;
      plan = PlanStages(it.moves, it.memory, options);
      ASSERT_TRUE(plan.ok()) << plan.status();
      --options.budget_bytes;
      ASSERT_FALSE(PlanStages(it.moves, it.memory, options).ok());
      ++options.budget_bytes;
    }
    ASSERT_THAT(PeaksOf(*plan), Pointwise(Le(), TightLimits(*plan)));
    ASSERT_THAT(CheckStages(it, *plan, random), IsEmpty()) << "case " << i;
    options.limit_bytes = plan->smallest_limit_bytes;
    ASSERT_TRUE(PlanStages(it.moves, it.memory, options).ok());
    --options.limit_bytes;
    ASSERT_FALSE(options.limit_bytes > 0 &&
                 PlanStages(it.moves, it.memory, options).ok());
    staged += plan->stages.size() > 1;
  }
  std::cout << staged << " in several stages, " << refused << " refused\n";
  EXPECT_GT(staged, 10);
}

// By whole pages of any size: what the replay says is what the checker counts,
// to the byte, within the least budget that was found.
TEST(StagePlanTest, PagesAreCountedAsTheCheckerDoes) {
  std::mt19937_64 random = TestRandom(73);
  int staged = 0;
  int rounded = 0;
  for (int i = 0; i < NumCases(120, 2000); ++i) {
    StageCase it = RandomStageCase(i, random);
    const int64_t page = (int64_t{1} << (12 + random() % 14)) - random() % 2;
    for (RankMemory& rank : it.memory) rank.extent_bytes = page;
    StageOptions options = RandomOptions(
        i % 4 == 0 ? StageMode::kSafe : StageMode::kTight, random);
    options.budget_bytes = int64_t{1} << 50;
    const StagePlan large = *PlanStages(it.moves, it.memory, options);
    if (options.mode == StageMode::kTight) {
      options.budget_bytes = large.smallest_budget_bytes;
    }
    const absl::StatusOr<StagePlan> plan =
        PlanStages(it.moves, it.memory, options);
    ASSERT_TRUE(plan.ok()) << "case " << i << ": " << plan.status();
    ASSERT_THAT(CheckStages(it, *plan, random), IsEmpty()) << "case " << i;
    // The fullest rank, a byte less: never from the start, or it is found.
    std::vector<int64_t> limits = PeaksOf(*plan);
    const size_t rank =
        std::max_element(limits.begin(), limits.end()) - limits.begin();
    --limits[rank];
    if (limits[rank] > 0) {
      ASSERT_THAT(CheckPrograms(ClaimsWith(it, limits),
                                RandomPrograms(it, *plan, random)),
                  ::testing::Contains(::testing::Field(
                      &Violation::kind, ViolationKind::kOverBudget)));
    }
    if (options.mode == StageMode::kTight) {
      ASSERT_THAT(PeaksOf(*plan), Pointwise(Le(), TightLimits(*plan)));
      options.budget_bytes = int64_t{1} << 50;
      options.limit_bytes = std::max<int64_t>(1, large.smallest_limit_bytes);
      ASSERT_TRUE(PlanStages(it.moves, it.memory, options).ok());
    }
    staged += plan->stages.size() > 1;
    rounded += plan->PeakBytes() % page == 0;
  }
  std::cout << staged << " in several stages, " << rounded << " whole pages\n";
}

// Two ranks swap 513 rows of 1 MiB: an odd one in the last page of 2 MiB.
TEST(StagePlanTest, ASwapByPages) {
  const Box box = *Box::Whole({513, 1024});
  const Moves moves =
      *Moves::Create(2, {1024, 1024},
                     {{.sender = 0, .receiver = 1, .piece = {0, box}},
                      {.sender = 1, .receiver = 0, .piece = {1, box}}});
  const WorldMemory memory = {
      {.source = {{0, box}}, .target = {{1, box}}, .extent_bytes = 2 * kMiB},
      {.source = {{1, box}}, .target = {{0, box}}, .extent_bytes = 2 * kMiB}};
  const StagePlan plan =
      *PlanStages(moves, memory,
                  {.mode = StageMode::kTight, .budget_bytes = kMinBudgetBytes});
  EXPECT_GT(plan.stages.size(), 8);
  for (const RankPeak& rank : plan.ranks) {
    EXPECT_EQ(rank.peak_bytes % (2 * kMiB), 0);
    EXPECT_GT(rank.peak_bytes, 514 * kMiB);
    EXPECT_LE(rank.peak_bytes, 513 * kMiB + kMinBudgetBytes);
  }
}

TEST(StagePlanTest, PagesDoNotGoWithWholeBuffers) {
  std::mt19937_64 random = TestRandom(72);
  StageCase it = RandomStageCase(0, random, Granularity::kTensors);
  for (RankMemory& rank : it.memory) rank.extent_bytes = 4096;
  EXPECT_THAT(
      std::string(PlanStages(it.moves, it.memory, {}).status().message()),
      HasSubstr("extent_bytes is 4096 and some buffers count as a whole"));
  it.memory[0].extent_bytes = 0;
  EXPECT_THAT(
      std::string(PlanStages(it.moves, it.memory, {}).status().message()),
      HasSubstr("extent_bytes is 0; it must be from 1 to 2^40"));
}

TEST(StagePlanTest, PagesThatAreTooManyToCountAreRefused) {
  const auto plan_of = [](int64_t extent_bytes) {
    const vps::Box whole = vps::Box::Whole({int64_t{1} << 36}).value();
    const Piece piece = {.tensor = 0, .region = whole};
    const Moves moves =
        Moves::Create(2, {1}, {{.sender = 0, .receiver = 1, .piece = piece}})
            .value();
    WorldMemory memory(2);
    memory[0].source = {piece};
    memory[1].target = {piece};
    for (RankMemory& rank : memory) rank.extent_bytes = extent_bytes;
    return PlanStages(moves, memory, {}).status();
  };
  EXPECT_TRUE(plan_of(2 * kMiB).ok());
  EXPECT_THAT(std::string(plan_of(2).message()),
              HasSubstr("extent_bytes is 2, which makes more than 134217728 "
                        "extents; it must be larger"));
}

// Peaks are no more than what the programs need: one byte less and the checker
// says so.
TEST(StagePlanTest, PeaksAreThoseOfThePrograms) {
  std::mt19937_64 random = TestRandom(82);
  for (int i = 0; i < 40; ++i) {
    const StageCase it = RandomStageCase(i, random);
    const absl::StatusOr<StagePlan> plan = PlanStages(
        it.moves, it.memory,
        RandomOptions(i % 4 < 2 ? StageMode::kTight : StageMode::kSafe,
                      random));
    if (!plan.ok()) continue;
    const std::vector<Program> programs = RandomPrograms(it, *plan, random);
    for (size_t rank = 0; rank < plan->ranks.size(); ++rank) {
      std::vector<int64_t> limits = PeaksOf(*plan);
      if (limits[rank] == 0) continue;
      --limits[rank];
      const Violations violations =
          CheckPrograms(ClaimsWith(it, limits), programs);
      ASSERT_FALSE(violations.empty());
      for (const Violation& violation : violations) {
        ASSERT_EQ(violation.kind, ViolationKind::kOverBudget);
        ASSERT_EQ(violation.rank, rank);
      }
    }
  }
}

// All of the source is there to the end, staging is within the budget.
TEST(StagePlanTest, SafeModeKeepsTheSource) {
  std::mt19937_64 random = TestRandom(83);
  int staged = 0;
  for (int i = 0; i < NumCases(200, 2000); ++i) {
    const StageCase it = RandomStageCase(i, random);
    StageOptions options = RandomOptions(StageMode::kSafe, random);
    // All of a stage is packed, so staging alone cuts.
    if (i % 2 == 0) options.port_staging_bytes = int64_t{1} << 40;
    const absl::StatusOr<StagePlan> plan =
        PlanStages(it.moves, it.memory, options);
    if (!plan.ok()) continue;  // elements larger than a part may be
    for (const RankPeak& rank : plan->ranks) {
      ASSERT_LE(rank.peak_bytes, rank.source_bytes + rank.target_bytes -
                                     rank.adopted_bytes + options.budget_bytes);
      ASSERT_LE(rank.peak_bytes, rank.safe_bytes);
    }
    for (const Stage& stage : plan->stages) ASSERT_THAT(stage.frees, IsEmpty());
    ASSERT_THAT(plan->unused, IsEmpty());
    ASSERT_THAT(CheckStages(it, *plan, random), IsEmpty()) << "case " << i;
    staged += plan->stages.size() > 1;
  }
  std::cout << staged << " in several stages\n";
  EXPECT_GT(staged, 5);
}

// Rank 0 has tensor 0 and is to have tensor 1, which rank 1 has; and the other
// way round. `rows` rows of 1 MiB each.
struct SwapWorld {
  explicit SwapWorld(int64_t rows)
      : box(*Box::Whole({rows, 1024})),
        moves(
            *Moves::Create(2, {1024, 1024},
                           {{.sender = 0, .receiver = 1, .piece = {0, box}},
                            {.sender = 1, .receiver = 0, .piece = {1, box}}})),
        memory({{.source = {{0, box}}, .target = {{1, box}}},
                {.source = {{1, box}}, .target = {{0, box}}}}) {}

  Box box;
  Moves moves;
  WorldMemory memory;
};

// A needs the room that B frees and B that of A: a chunk in flight suffices.
TEST(StagePlanTest, CyclesAreBrokenByAChunk) {
  const SwapWorld swap(10 * 1024);
  const StagePlan plan =
      *PlanStages(swap.moves, swap.memory,
                  {.mode = StageMode::kTight, .budget_bytes = kMinBudgetBytes});
  // 64 MiB less two slots of 16 MiB: 32 MiB a stage, less what units take.
  EXPECT_EQ(plan.stages.size(), 342);
  for (const RankPeak& it : plan.ranks) {
    EXPECT_EQ(it.peak_bytes, (10 * 1024 + 62) * kMiB);
  }
}

TEST(StagePlanTest, DeadMemoryIsUsedBeforeTheAllocatorIsAsked) {
  SwapWorld swap(1024);
  for (RankMemory& it : swap.memory) it.dead_bytes = 24 * kMiB;
  const StagePlan plan =
      *PlanStages(swap.moves, swap.memory,
                  {.mode = StageMode::kTight, .budget_bytes = kMinBudgetBytes});
  EXPECT_THAT(plan.stages[0].staging_bytes, ElementsAre(8 * kMiB, 8 * kMiB));
  EXPECT_EQ(plan.stages.size(), 19);  // of 56 MiB
  for (RankMemory& it : swap.memory) it.dead_bytes = 32 * kMiB;
  EXPECT_THAT(PlanStages(swap.moves, swap.memory, {})->stages[0].staging_bytes,
              ElementsAre(0, 0));
}

TEST(StagePlanTest, AutoIsSafeIfThatFitsElseTight) {
  const SwapWorld swap(1024);
  StageOptions options = {.budget_bytes = kMinBudgetBytes};
  const auto plan = [&](int64_t limit_bytes) {
    options.limit_bytes = limit_bytes;
    return PlanStages(swap.moves, swap.memory, options);
  };
  EXPECT_EQ(plan(0)->mode, StageMode::kSafe);
  EXPECT_EQ(plan((2048 + 32) * kMiB)->mode, StageMode::kSafe);
  EXPECT_EQ(plan((2048 + 32) * kMiB - 1)->mode, StageMode::kTight);
  EXPECT_EQ(plan((1024 + 64) * kMiB)->PeakBytes(), (1024 + 62) * kMiB);
  // A smaller limit only makes smaller stages, as far as elements go.
  const StagePlan least = *plan(plan(0)->smallest_limit_bytes);
  EXPECT_LE(least.PeakBytes(), plan(0)->smallest_limit_bytes);
  EXPECT_LT(plan(0)->smallest_limit_bytes, 1025 * kMiB);
  EXPECT_EQ(plan(1024 * kMiB - 1).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(StagePlanTest, IsPrintedForPeople) {
  const SwapWorld swap(1024);
  EXPECT_EQ(
      PlanStages(swap.moves, swap.memory,
                 {.mode = StageMode::kTight, .budget_bytes = kMinBudgetBytes})
          ->DebugString(),
      "tight mode, 35 stages; peak 1138753536 bytes on rank 0 (source "
      "1073741824, target 1073741824, adopted 0; in safe mode 2181038080)\n"
      "tight mode needs a budget of 67108864, or a limit of 1074139136; no "
      "plan does with less than 67108864 or 1073741824\n");
}

TEST(StagePlanTest, WhatCannotBeIsRefusedWithNumbers) {
  const SwapWorld swap(1024);
  const auto refused = [&](const StageOptions& options) {
    return std::string(
        PlanStages(swap.moves, swap.memory, options).status().message());
  };
  EXPECT_THAT(
      refused({.mode = StageMode::kSafe, .limit_bytes = 2048 * kMiB}),
      HasSubstr("rank 0 needs 2181038080 bytes in safe mode (source "
                "1073741824, target 1073741824, adopted 0) and may use "
                "2147483648 (limit 2147483648, budget 268435456); the smallest "
                "budget for tight mode is 67108864, the smallest limit "));
  EXPECT_THAT(refused({.budget_bytes = kMinBudgetBytes - 1}),
              HasSubstr("budget_bytes is 67108863; it must be at least "
                        "67108864 (64 MiB)"));
  EXPECT_THAT(refused({.limit_bytes = -1}), HasSubstr("limit_bytes -1"));
}

TEST(StagePlanTest, MemoryThatDoesNotFitTheMovesIsRefused) {
  const auto refused = [](const WorldMemory& memory) {
    return std::string(
        PlanStages(SwapWorld(8).moves, memory, {}).status().message());
  };
  const WorldMemory good = SwapWorld(8).memory;
  EXPECT_THAT(refused({good[0]}), HasSubstr("memory of 1 ranks"));
  EXPECT_THAT(refused({good[0], {.source = good[1].source}}),
              HasSubstr("rank 1: moves write 8388608 bytes of its target "
                        "memory, which has 0"));
  EXPECT_THAT(refused({good[0], {.target = good[1].target}}),
              HasSubstr("rank 1: moves read 8388608 bytes of its source "
                        "memory, of which it holds 0"));
  WorldMemory bad = good;
  bad[1].source[0].tensor = 2;
  EXPECT_THAT(refused(bad), HasSubstr("rank 1: source names tensor 2"));
  bad[1].source[0] = {0, *Box::Whole({int64_t{1} << 60})};
  EXPECT_THAT(refused(bad), HasSubstr("rank 1: source is more than"));
  bad = good;
  bad[1].source_buffers = {0, 0};
  EXPECT_THAT(refused(bad), HasSubstr("source_buffers has 2 entries for 1"));
  bad[1].source_buffers = {-2};
  EXPECT_THAT(refused(bad), HasSubstr("source_buffers names buffer -2"));
  bad = good;
  bad[0].dead_bytes = -1;
  EXPECT_THAT(refused(bad), HasSubstr("rank 0: dead_bytes is -1"));
  bad[0].dead_bytes = (int64_t{1} << 52) + 1;
  EXPECT_THAT(refused(bad), HasSubstr("it must be from 0 to 2^52"));
}

// A chain 0 -> 1 -> 2 and one through staging memory 0 -> 3 -> 4: what is
// passed on is in the stage in which it arrives.
TEST(StagePlanTest, WhatIsPassedOnComesWithWhatItIs) {
  const Box box = *Box::Whole({256, 1024});
  const Moves moves = *Moves::Create(
      5, {1024},
      {{.sender = 0, .receiver = 1, .piece = {0, box}, .stream = 1},
       {.sender = 1,
        .receiver = 2,
        .piece = {0, *Box::Create({100, 0}, {50, 1024})},
        .stream = 1,
        .space = Space::kTarget,
        .after = 0},
       {.sender = 0,
        .receiver = 3,
        .piece = {0, box},
        .stream = 2,
        .into = Space::kStaging},
       {.sender = 3,
        .receiver = 4,
        .piece = {0, box},
        .stream = 2,
        .space = Space::kStaging,
        .after = 0}});
  WorldMemory memory(5);
  memory[0].source = {{0, box}};
  memory[1].target = memory[4].target = memory[0].source;
  memory[2].target = {{0, *Box::Create({100, 0}, {50, 1024})}};
  const StagePlan plan =
      *PlanStages(moves, memory,
                  {.mode = StageMode::kTight, .budget_bytes = kMinBudgetBytes});
  EXPECT_GT(plan.stages.size(), 4);
  // Staging of rank 3: two slots and what is passed on.
  EXPECT_LE(plan.ranks[3].peak_bytes, kMinBudgetBytes);
  const StagePlan safe = *PlanStages(moves, memory, {.mode = StageMode::kSafe});
  for (const RankPeak& it : safe.ranks) {
    EXPECT_LE(it.peak_bytes, it.safe_bytes);
  }
  for (const Stage& stage : plan.stages) {
    for (const Move& move : stage.moves.all()) {
      if (move.after < 0) continue;
      EXPECT_TRUE(
          std::any_of(stage.moves.all().begin(), stage.moves.all().end(),
                      [&](const Move& feed) {
                        return feed.receiver == move.sender &&
                               feed.piece.region.Contains(move.piece.region);
                      }))
          << move;
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
