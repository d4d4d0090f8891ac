// The line that is left of a transition, in status.history.
#ifndef OPERATOR_RECONCILE_HISTORY_H_
#define OPERATOR_RECONCILE_HISTORY_H_

#include <string>

#include "api/job/status.h"
#include "operator/reconcile/round.h"

namespace dynatrain::control {

// "g3 scale-up dp2,tp1,pp1 -> dp3,tp1,pp1".
std::string TransitionTitle(const api::TransitionStatus& transition);

// Appends the transition that has just ended (Released, Aborted, Superseded)
// with what the agents counted: bytes are summed over the target, times are the
// longest of any rank. Drops the oldest entries.
void AppendHistory(Round& round);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_HISTORY_H_
