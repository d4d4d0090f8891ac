// How long programs take in the port model, read off the programs alone and not
// off what made them: for tests of what is promised of makespans.
#ifndef TRANSITION_SCHEDULE_PROGRAM_MAKESPAN_H_
#define TRANSITION_SCHEDULE_PROGRAM_MAKESPAN_H_

#include <cstdint>

#include "absl/types/span.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

// The channels one after the other, each window by window with a port of its
// own for each rank (WindowedMakespan), in bytes. REQUIRES: all sends are in
// groups.
int64_t ProgramMakespan(absl::Span<const Program> programs);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PROGRAM_MAKESPAN_H_
