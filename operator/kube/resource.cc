#include "operator/kube/resource.h"

#include "absl/strings/str_cat.h"

namespace dynatrain::control {

std::string Resource::ApiVersion() const {
  return group.empty() ? version : absl::StrCat(group, "/", version);
}

const Resource& Pods() {
  static const auto* const kResource = new Resource{"", "v1", "pods", "Pod"};
  return *kResource;
}

const Resource& TrainingJobs() {
  static const auto* const kResource = new Resource{
      "dynatrain.io", "v1alpha1", "elastictrainingjobs", "ElasticTrainingJob"};
  return *kResource;
}

const Resource& Events() {
  static const auto* const kResource =
      new Resource{"events.k8s.io", "v1", "events", "Event"};
  return *kResource;
}

std::string CollectionPath(const Resource& resource, absl::string_view ns) {
  const std::string root = resource.group.empty()
                               ? absl::StrCat("/api/", resource.version)
                               : absl::StrCat("/apis/", resource.ApiVersion());
  if (ns.empty() || !resource.namespaced) {
    return absl::StrCat(root, "/", resource.plural);
  }
  return absl::StrCat(root, "/namespaces/", ns, "/", resource.plural);
}

std::string ObjectPath(const Resource& resource, absl::string_view ns,
                       absl::string_view name) {
  return absl::StrCat(CollectionPath(resource, ns), "/", name);
}

}  // namespace dynatrain::control
