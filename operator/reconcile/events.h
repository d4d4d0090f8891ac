// The events that go with a change of status.
#ifndef OPERATOR_RECONCILE_EVENTS_H_
#define OPERATOR_RECONCILE_EVENTS_H_

#include <vector>

#include "api/job/status.h"
#include "operator/reconcile/action.h"

namespace dynatrain::control {

// What `kubectl describe` should list of the step from `before` to `after`:
// phases of a transition and conditions that have turned.
std::vector<RecordEvent> EventsOf(const api::JobStatus& before,
                                  const api::JobStatus& after);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_EVENTS_H_
