// A pod of the API server as the reconcile function sees it.
#ifndef OPERATOR_DRIVER_POD_VIEW_H_
#define OPERATOR_DRIVER_POD_VIEW_H_

#include <string>

#include "absl/status/statusor.h"
#include "operator/kube/json.h"
#include "operator/reconcile/snapshot.h"

namespace dynatrain::control {

// Reads `pod`. kInvalidArgument if its serial label is no number: then it is
// not one of ours.
absl::StatusOr<PodView> PodViewOf(const Json& pod);

// The label's value; "" if the pod hasn't got it.
std::string LabelOf(const Json& object, const std::string& label);

// uid of the controlling owner; "" if there is none.
std::string OwnerUidOf(const Json& object);

// Drops what nobody here reads before the pod is cached.
void TrimPod(Json& pod);

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_POD_VIEW_H_
