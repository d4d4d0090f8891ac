// Conditions and the line "reason" of a job's status.
#ifndef OPERATOR_RECONCILE_CONDITION_H_
#define OPERATOR_RECONCILE_CONDITION_H_

#include <string>

#include "operator/reconcile/round.h"

namespace dynatrain::control {

// Sets a condition; its transition time changes only if its status does.
void SetCondition(Round& round, absl::string_view type, bool status,
                  absl::string_view reason, absl::string_view message);

// Null if there is none of this type.
const api::Condition* FindCondition(const api::JobStatus& status,
                                    absl::string_view type);

// True if there is one of this type and it holds.
bool Holds(const api::JobStatus& status, absl::string_view type);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_CONDITION_H_
