// How a job ends: complete, failed, suspended, or started again.
#ifndef OPERATOR_RECONCILE_ENDINGS_H_
#define OPERATOR_RECONCILE_ENDINGS_H_

#include "operator/reconcile/round.h"

namespace dynatrain::control {

// Complete or Failed: nothing will train any more.
bool IsOver(const api::JobStatus& status);

// The job's namespace is being deleted: Failed, as there is no way back from
// that. True if so.
// REQUIRES: no pause.
bool NoteNamespaceEnding(Round& round);

// All members have come to the end of the data and exited with 0: Complete.
// True if so.
bool NoteCompletion(Round& round);

// A member is gone with its state: condition StateLost names it, then
// spec.onStateLost is done. True if so.
// REQUIRES: no transition runs.
bool NoteLostState(Round& round);

// spec.suspend: ends the pods; a suspended job starts again from `init`. True
// if the job is to rest.
// REQUIRES: no transition runs.
bool NoteSuspension(Round& round);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_ENDINGS_H_
