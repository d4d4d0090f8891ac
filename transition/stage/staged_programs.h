// Programs of all ranks from stages: each stage as MakePrograms makes it, with
// room made and staging reserved before it and a join, memory given back and
// staging released behind it.
#ifndef TRANSITION_STAGE_STAGED_PROGRAMS_H_
#define TRANSITION_STAGE_STAGED_PROGRAMS_H_

#include <vector>

#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "transition/program/program.h"
#include "transition/schedule/schedule.h"
#include "transition/stage/stage_plan.h"

namespace dynatrain::transition {

// One program per rank. `schedules[i]` are those of stage i, collectives (their
// parcels are of other streams than 0) last. The others have the channel of
// their place in all stages, collectives each one of its own.
// REQUIRES: as MakePrograms, for each stage; schedules.size() is the number of
// stages.
std::vector<Program> MakeStagedPrograms(
    const StagePlan& plan, absl::Span<const std::vector<Schedule>> schedules,
    const Fingerprint& plan_digest);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_STAGED_PROGRAMS_H_
