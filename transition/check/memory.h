// Whether one rank's program reads what is there, writes where there is room,
// fills the target world exactly, and stays within its memory.
#ifndef TRANSITION_CHECK_MEMORY_H_
#define TRANSITION_CHECK_MEMORY_H_

#include "transition/check/claims.h"
#include "transition/check/violation.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

// kNotHeld, kReleased, kNotAllocated, kOverlap, kGap, kWrongZero, kLeak,
// kOverBudget.
// "Before" is happens-before: earlier in the same lane (but not in the same
// group), or on the two sides of a join; what is not ordered may come either
// way, so it is refused where it matters. O(n^2) in the pieces of one tensor on
// the rank. REQUIRES: CheckForm found nothing.
Violations CheckMemory(const Claims& claims, const Program& program);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_MEMORY_H_
