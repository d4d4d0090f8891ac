// Whether what passes through buffers is there when it is read, has room, and
// is never in two places at once.
#ifndef TRANSITION_CHECK_STAGING_H_
#define TRANSITION_CHECK_STAGING_H_

#include "transition/check/access_table.h"
#include "transition/check/claims.h"
#include "transition/check/violation.h"

namespace dynatrain::transition {

// kNotAllocated if a buffer is written that may not be reserved (yet, or any
// more) or is too small for all that is written from kReserve to kRelease;
// kReleased if it may be read after its release; kNotHeld if it is read before
// what is read is sure to be there; kOverlap if the same is written twice. That
// buffers are reserved and released in turns, CheckMemory says.
Violations CheckStaging(const Claims& claims, int rank,
                        const AccessTable& table);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_STAGING_H_
