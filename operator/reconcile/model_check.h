// Is the model that trains the one that the user told of (spec.model)?
#ifndef OPERATOR_RECONCILE_MODEL_CHECK_H_
#define OPERATOR_RECONCILE_MODEL_CHECK_H_

#include "operator/reconcile/round.h"

namespace dynatrain::control {

// Sets the condition ModelAsTold once the manifest is known, and again after an
// edit: false if the parameters of all tensors are not as many as
// spec.model.parameters says. Where that is not said there is no condition. It
// changes nothing that runs.
void CheckModel(Round& round);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_MODEL_CHECK_H_
