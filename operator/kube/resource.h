// Which kind of object a request is about, and its path on the API server.
#ifndef OPERATOR_KUBE_RESOURCE_H_
#define OPERATOR_KUBE_RESOURCE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::control {

// A kind of Kubernetes object: group (empty for the core group), version,
// plural in the path, kind in the object.
struct Resource {
  std::string group;
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;

  // "v1", "dynatrain.io/v1alpha1": the object's apiVersion.
  std::string ApiVersion() const;
  bool operator==(const Resource&) const = default;
};

const Resource& Pods();
const Resource& TrainingJobs();  // elastictrainingjobs.dynatrain.io
const Resource& Events();        // events.k8s.io

// "/api/v1/namespaces/a/pods"; all namespaces if `ns` is empty.
std::string CollectionPath(const Resource& resource, absl::string_view ns);
// CollectionPath + "/name"; REQUIRES: `ns` unless the kind is cluster-wide.
std::string ObjectPath(const Resource& resource, absl::string_view ns,
                       absl::string_view name);

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_RESOURCE_H_
