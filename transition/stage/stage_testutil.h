// Plans whose elements are large, so that budgets of 64 MiB and more cut them
// in many stages, and their programs, for tests.
#ifndef TRANSITION_STAGE_STAGE_TESTUTIL_H_
#define TRANSITION_STAGE_STAGE_TESTUTIL_H_

#include <cstdint>
#include <random>
#include <vector>

#include "transition/check/claims.h"
#include "transition/check/violation.h"
#include "transition/plan/plan_input.h"
#include "transition/program/program.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/schedule.h"
#include "transition/stage/plan_memory.h"
#include "transition/stage/stage_plan.h"
#include "transition/stage/world_memory.h"

namespace dynatrain::transition {

struct StageCase {
  PlanInput input;
  int64_t scale = 1;  // of the bytes of elements
  Moves moves;
  WorldMemory memory;
};

// REQUIRES: the source world is not empty.
StageCase MakeStageCase(PlanInput input, int64_t scale,
                        Granularity granularity = Granularity::kExtents);

// Of random worlds, every other one of any layouts there are (RandomPair); an
// element has 64 KiB to 16 MiB.
StageCase RandomStageCase(int i, std::mt19937_64& random,
                          Granularity granularity = Granularity::kExtents);

// The second number in long runs (DYNATRAIN_LONG), else the first.
int NumCases(int in_short, int in_long);

// The schedules of each stage, as MakeStagedPrograms takes them.
std::vector<std::vector<Schedule>> SchedulesOf(const StagePlan& plan,
                                               const ClusterModel& cluster,
                                               const ScheduleOptions& options);

// In random schedules: by order or in groups, any nodes, units and windows.
std::vector<Program> RandomPrograms(const StageCase& it, const StagePlan& plan,
                                    std::mt19937_64& random);

// What the layouts say. `limits`: by rank.
Claims ClaimsWith(const StageCase& it, const std::vector<int64_t>& limits);

// The plan's, by rank.
std::vector<int64_t> PeaksOf(const StagePlan& plan);
// max(source, target) + budget.
std::vector<int64_t> TightLimits(const StagePlan& plan);

// What is wrong with RandomPrograms, if ranks may use PeaksOf and no more.
Violations CheckStages(const StageCase& it, const StagePlan& plan,
                       std::mt19937_64& random);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_STAGE_TESTUTIL_H_
