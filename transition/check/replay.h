// Whether anybody waits for ever.
#ifndef TRANSITION_CHECK_REPLAY_H_
#define TRANSITION_CHECK_REPLAY_H_

#include "absl/types/span.h"
#include "transition/check/matching.h"
#include "transition/check/violation.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

// Replays all programs. A receive ends once its send has begun; a send ends
// once its receive has begun or, with credits, while fewer than `credits`
// messages of its stream before it are not yet received. A group ends when all
// in it can end. kDeadlock if not all programs end, with the chain of who waits
// for whom. REQUIRES: `matching` has no violations, credits >= 0.
Violations CheckWaits(absl::Span<const Program> programs,
                      const Matching& matching, int credits);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_REPLAY_H_
