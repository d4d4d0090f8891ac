#include "transition/stage/staged_programs.h"

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/program/program.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/moves.h"
#include "transition/stage/stage_plan.h"
#include "transition/stage/stage_testutil.h"
#include "transition/stage/world_memory.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::IsEmpty;
using Kind = OperationKind;

constexpr int64_t kMiB = int64_t{1} << 20;

// Two ranks that swap tensors of some hundred rows of 1 MiB each, in tight
// mode with the least budget. Limits are the peaks.
struct Subject {
  Claims claims;
  std::vector<Program> programs;
};

Subject MakeSubject(std::mt19937_64& random) {
  const vps::Box box =
      *vps::Box::Whole({300 + static_cast<int64_t>(random() % 500), 1024});
  const std::vector<int64_t> item_bytes = {1024, 1024};
  const Moves moves =
      *Moves::Create(2, item_bytes,
                     {{.sender = 0, .receiver = 1, .piece = {0, box}},
                      {.sender = 1, .receiver = 0, .piece = {1, box}}});
  const WorldMemory memory = {{.source = {{0, box}}, .target = {{1, box}}},
                              {.source = {{1, box}}, .target = {{0, box}}}};
  const StagePlan plan =
      *PlanStages(moves, memory,
                  {.mode = StageMode::kTight, .budget_bytes = kMinBudgetBytes});
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = 1,
                             .ranks_per_node = 2,
                             .nics_per_node = 1,
                             .inside_bytes_per_second = 200'000'000'000,
                             .nic_bytes_per_second = 25'000'000'000});
  const ScheduleOptions options = {.execution = random() % 2 == 0
                                                    ? Execution::kOrdered
                                                    : Execution::kGrouped,
                                   .list = {.unit_bytes = kMiB},
                                   .max_window_bytes = 8 * kMiB};
  Subject subject = {.claims = {.item_bytes = item_bytes},
                     .programs = MakeStagedPrograms(
                         plan, SchedulesOf(plan, cluster, options), {})};
  for (int rank = 0; rank < 2; ++rank) {
    subject.claims.ranks.push_back(
        {.source = memory[rank].source,
         .target = memory[rank].target,
         .limit_bytes = plan.ranks[rank].peak_bytes});
  }
  return subject;
}

using Operations = std::vector<Operation>;

// The n-th operation of its kind, n counted from 0.
Operations::iterator Find(Operations& list, Kind kind, int n) {
  auto it = list.begin();
  for (; it != list.end(); ++it) {
    if (it->kind == kind && n-- == 0) break;
  }
  return it;
}

void MoveTo(Operations::iterator from, Operations::iterator to) {
  if (from < to) {
    std::rotate(from, from + 1, to);
  } else {
    std::rotate(to, from, from + 1);
  }
}

int CountOf(const Operations& list, Kind kind) {
  return static_cast<int>(
      std::count_if(list.begin(), list.end(),
                    [&](const Operation& it) { return it.kind == kind; }));
}

// A stage is: reserve, allocate, join, messages, join, free, release; a join
// stands between two.
struct Mutation {
  std::string name;
  std::set<ViolationKind> found_as;
  std::function<void(Operations&, int stage)> mutate;
};

std::vector<Mutation> Mutations() {
  using V = ViolationKind;
  return {
      {"free before the stage that sends it",
       {V::kReleased},
       [](Operations& list, int stage) {
         MoveTo(Find(list, Kind::kFree, stage),
                Find(list, Kind::kReserve, stage));
       }},
      {"free beside the messages of its stage",
       {V::kReleased},
       [](Operations& list, int stage) {
         list.erase(Find(list, Kind::kJoin, 3 * stage + 1));
       }},
      {"free a stage later",
       {V::kOverBudget},
       [](Operations& list, int stage) {
         MoveTo(Find(list, Kind::kFree, stage),
                Find(list, Kind::kFree, stage + 1));
       }},
      {"never free",
       {V::kOverBudget},
       [](Operations& list, int stage) {
         list.erase(Find(list, Kind::kFree, stage));
       }},
      {"free what the next stage sends",
       {V::kReleased},
       [](Operations& list, int stage) {
         std::swap(*Find(list, Kind::kFree, stage),
                   *Find(list, Kind::kFree, stage + 1));
       }},
      {"make room a stage early",
       {V::kOverBudget},
       [](Operations& list, int stage) {
         MoveTo(Find(list, Kind::kAllocate, stage + 1),
                Find(list, Kind::kReserve, stage));
       }},
      {"receive beside making room",
       {V::kNotAllocated},
       [](Operations& list, int stage) {
         list.erase(Find(list, Kind::kJoin, 3 * stage + 2));
         list.erase(Find(list, Kind::kJoin, 3 * stage + 2));
       }},
      {"keep staging for the next stage",
       {V::kMalformed, V::kOverBudget},
       [](Operations& list, int stage) {
         MoveTo(Find(list, Kind::kRelease, stage),
                Find(list, Kind::kRelease, stage + 1));
       }},
      {"never release the last staging",
       {V::kLeak},
       [](Operations& list, int) {
         list.erase(
             Find(list, Kind::kRelease, CountOf(list, Kind::kRelease) - 1));
       }},
      {"two stages the other way round at one end",
       {V::kMismatched, V::kDeadlock, V::kGroup},
       [](Operations& list, int stage) {
         const auto first = Find(list, Kind::kReserve, stage);
         const auto second = Find(list, Kind::kReserve, stage + 1);
         const auto third = Find(list, Kind::kReserve, stage + 2);
         std::rotate(first, second, third);
       }},
      {"a stage that is not there at one end",
       {V::kUnmatched, V::kMismatched, V::kGroup},
       [](Operations& list, int stage) {
         list.erase(Find(list, Kind::kReserve, stage),
                    Find(list, Kind::kReserve, stage + 1));
       }},
      {"a stage twice at one end",
       {V::kUnmatched, V::kMismatched, V::kGroup},
       [](Operations& list, int stage) {
         const Operations copy(Find(list, Kind::kReserve, stage),
                               Find(list, Kind::kReserve, stage + 1));
         list.insert(Find(list, Kind::kReserve, stage), copy.begin(),
                     copy.end());
       }},
  };
}

TEST(StagedProgramsTest, WhatIsWrongWithStagesIsCaught) {
  std::mt19937_64 random = TestRandom(88);
  for (const Mutation& mutation : Mutations()) {
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(mutation.name);
      Subject subject = MakeSubject(random);
      ASSERT_THAT(CheckPrograms(subject.claims, subject.programs), IsEmpty());
      Operations& list = subject.programs[random() % 2].operations;
      // Each has one before and two behind it.
      const int stages = CountOf(list, Kind::kReserve);
      ASSERT_GE(stages, 5);
      mutation.mutate(list, 1 + static_cast<int>(random() % (stages - 3)));
      const Violations violations =
          CheckPrograms(subject.claims, subject.programs);
      EXPECT_TRUE(std::any_of(violations.begin(), violations.end(),
                              [&](const Violation& it) {
                                return mutation.found_as.count(it.kind) > 0;
                              }))
          << "found only " << ::testing::PrintToString(violations);
      if (HasFailure()) return;
    }
  }
}

TEST(StagedProgramsTest, SafeProgramsOfOneStageAreAsWithoutStages) {
  const vps::Box box = *vps::Box::Whole({4, 4});
  const Moves moves =
      *Moves::Create(2, {4}, {{.sender = 0, .receiver = 1, .piece = {0, box}}});
  const StagePlan plan =
      *PlanStages(moves, {{.source = {{0, box}}}, {.target = {{0, box}}}},
                  {.port_staging_bytes = 0});
  const std::vector<std::vector<Schedule>> schedules = {
      {{.parcels = {{0, 1, 0, 64}}}}};
  const std::vector<Program> programs = MakeStagedPrograms(plan, schedules, {});
  EXPECT_THAT(
      programs[0].operations,
      ::testing::ElementsAre(Join(), Send(1, {{0, box}}, 64, 1, 0), Join()));
  EXPECT_THAT(programs[1].operations,
              ::testing::ElementsAre(Allocate({{0, box}}, 64), Join(),
                                     Receive(0, {{0, box}}, 64, 2, 0), Join()));
}

}  // namespace
}  // namespace dynatrain::transition
