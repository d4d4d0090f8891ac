// Whether programs are programs at all: what the rest of the checker relies on.
#ifndef TRANSITION_CHECK_FORM_H_
#define TRANSITION_CHECK_FORM_H_

#include "absl/types/span.h"
#include "transition/check/claims.h"
#include "transition/check/violation.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

// kMalformed, kWrongDigest, kMismatched and kGroup: one program per rank, of
// this plan; ranks, tensors, lanes and channels that exist; spaces that can be
// read and written; pieces that are not empty and make up the bytes; groups
// that hold only sends and receives of their lane, not more than allowed, with
// ascending windows, and end before a join; memory operations in lane 0; the
// messages between two ranks on a channel in one lane, so that they have an
// order.
Violations CheckForm(const Claims& claims, absl::Span<const Program> programs);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_FORM_H_
