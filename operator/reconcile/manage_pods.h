// Creates and deletes the pods of a job.
#ifndef OPERATOR_RECONCILE_MANAGE_PODS_H_
#define OPERATOR_RECONCILE_MANAGE_PODS_H_

#include "operator/reconcile/round.h"

namespace dynatrain::control {

// Brings the number of live pods to round.next.target_replicas.
//
// Serials are taken in status before a pod is created, so that none is used
// twice. Members and those who take part in a transition are left alone: they
// leave through a transition. Of the others, surplus ones go: first those that
// are not scheduled, then those not ready, then the highest serials. A pod that
// ended by itself is counted and replaced after a back-off; the newest of those
// is kept for its logs.
void ManagePods(Round& round);

// Ends every pod that runs, of this start of the job and earlier ones; those
// that have ended stay for their logs.
void DismissPods(Round& round, absl::string_view reason);

// Ends and deletes the pods of earlier starts.
void DeleteStalePods(Round& round);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_MANAGE_PODS_H_
