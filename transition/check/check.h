// The checker: proves of all ranks' programs together, before anything moves,
// that
//   - every send meets a receive of the same pieces, in the same window;
//   - nobody waits for ever: under rendezvous (a send ends when its receive has
//     begun), with limited credits, and with groups that end only when all they
//     hold has met its other end;
//   - each element of the target world is written once and no other is;
//   - nothing is read that the rank doesn't hold, or that may be freed before;
//   - nothing is written where there is no room yet;
//   - memory stays within the limit.
//
// It knows programs and boxes only, and shares no code with what makes
// programs, so that one mistake can't be on both sides.
//
// One replay proves it for all interleavings: an operation that can end stays
// able to end whatever else happens first (the system is persistent), so
// either every order of events ends or every one gets stuck at the same place.
// What is read, written and freed is compared by happens-before (order in a
// lane, joins), not by one replay's times.
//
//   const Violations violations = CheckPrograms(claims, programs);
//   if (!violations.empty()) return Refuse(violations[0]);
#ifndef TRANSITION_CHECK_CHECK_H_
#define TRANSITION_CHECK_CHECK_H_

#include "absl/types/span.h"
#include "transition/check/claims.h"
#include "transition/check/violation.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

// Empty if all is proved. Otherwise what is wrong, at most some tens, the first
// the most telling; parts of the proof that make no sense after that are left
// out. Program i must be that of rank i. Any input is fine: programs are what
// is in doubt.
Violations CheckPrograms(const Claims& claims,
                         absl::Span<const Program> programs);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_CHECK_H_
