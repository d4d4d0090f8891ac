// Brings what people read in status up to date.
#ifndef OPERATOR_RECONCILE_REPORT_H_
#define OPERATOR_RECONCILE_REPORT_H_

#include "operator/reconcile/round.h"

namespace dynatrain::control {

// Takes the wish into round.next: target_replicas, feasible_replicas and the
// conditions Accepted and LayoutFeasible.
void ReportWish(Round& round);

// Phase, ready, step and loss, the conditions Running, Resizing and Degraded,
// and the line "reason".
void ReportState(Round& round);

// True while training stops, stands or starts again: nothing that can wait is
// done then.
bool IsPausing(const Round& round);

// True if `round.next` differs from what is stored by more than the progress of
// training, or the stored progress is 30 s old or the last. In a pause only the
// steps of the transition are worth it.
bool WorthWriting(const Round& round);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_REPORT_H_
