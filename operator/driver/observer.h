// Observe: from caches and connections to a Snapshot.
#ifndef OPERATOR_DRIVER_OBSERVER_H_
#define OPERATOR_DRIVER_OBSERVER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/driver/job_runtime.h"
#include "operator/kube/object_cache.h"
#include "operator/reconcile/snapshot.h"

namespace dynatrain::control {

// What is the same for all jobs.
struct OperatorIdentity {
  std::string name;         // reportingInstance
  std::string agent_image;  // what new jobs get
  int agent_port = 7070;
};

// Those of `pods` that the job with `uid` owns, in the order of serials.
std::vector<PodView> PodsOf(const std::vector<SharedJson>& pods,
                            const std::string& uid);

// Reads the job, its pods and its agents; `job` is null if the job is gone,
// then `ns` and `name` tell which it was. `pods` are those with the job's
// name: some may belong to a namesake. Connects to new agents on the way.
// kInvalidArgument if the object can't be read at all.
absl::StatusOr<Snapshot> Observe(const OperatorIdentity& self,
                                 const SharedJson& job, const std::string& ns,
                                 const std::string& name,
                                 const std::vector<SharedJson>& pods,
                                 JobRuntime& runtime);

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_OBSERVER_H_
