#include "operator/driver/observer.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "operator/driver/pod_view.h"
#include "operator/kube/log_text.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {

std::vector<PodView> PodsOf(const std::vector<SharedJson>& pods,
                            const std::string& uid) {
  std::vector<PodView> views;
  for (const SharedJson& pod : pods) {
    if (OwnerUidOf(*pod) != uid) continue;
    absl::StatusOr<PodView> view = PodViewOf(*pod);
    if (view.ok()) {
      views.push_back(*std::move(view));
    } else {
      spdlog::warn("msg=\"pod passed over\" error=\"{}\"",
                   LogText(view.status()));
    }
  }
  std::sort(views.begin(), views.end(), [](const PodView& a, const PodView& b) {
    return a.serial < b.serial;
  });
  return views;
}

absl::StatusOr<Snapshot> Observe(const OperatorIdentity& self,
                                 const SharedJson& job, const std::string& ns,
                                 const std::string& name,
                                 const std::vector<SharedJson>& pods,
                                 JobRuntime& runtime) {
  Snapshot snapshot;
  if (job != nullptr) {
    ASSIGN_OR_RETURN(snapshot.job, api::ParseJob(job->dump()));
  } else {
    snapshot.job_gone = true;
    snapshot.job.metadata.namespace_name = ns;
    snapshot.job.metadata.name = name;
    snapshot.job.metadata.uid = runtime.uid();
  }
  snapshot.pods = PodsOf(pods, runtime.uid());
  runtime.Connect(snapshot.pods);
  snapshot.agents = runtime.Observations();
  // After the observations: an age of theirs must not be negative.
  snapshot.now = absl::Now();
  snapshot.create_error = runtime.create_error;
  // Without it the round goes on: the reconcile function says what it lacks.
  snapshot.manifest =
      runtime.Manifest(snapshot.job.status.manifest_digest).value_or("");
  snapshot.term = runtime.term;
  snapshot.operator_name = self.name;
  snapshot.agent_image = self.agent_image;
  snapshot.agent_port = self.agent_port;
  return snapshot;
}

}  // namespace dynatrain::control
