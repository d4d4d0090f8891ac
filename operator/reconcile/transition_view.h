// The running transition as transition/commit looks at it.
#ifndef OPERATOR_RECONCILE_TRANSITION_VIEW_H_
#define OPERATOR_RECONCILE_TRANSITION_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "operator/reconcile/round.h"
#include "transition/commit/coordinator.h"

namespace dynatrain::control {

// Source members in rank order, then those of the target that join.
// REQUIRES: round.next.transition.
std::vector<uint32_t> Participants(const Round& round);

// Without give_up and superseded.
transition::TransitionView MakeView(const Round& round);

transition::RecordPhase ToRecordPhase(absl::string_view text);

// What the agent of `serial` says of generation `generation`; null if it
// doesn't speak of it.
const agent::TransitionObservation* TransitionOf(const Round& round,
                                                 uint32_t serial,
                                                 int64_t generation);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_TRANSITION_VIEW_H_
