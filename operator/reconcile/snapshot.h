// All that one decision rests on: plain values, no I/O, no clock.
//
// Observe makes a Snapshot, Decide (operator/reconcile/decide.h) turns it into
// actions, the driver carries them out. A snapshot must not be older than the
// driver's own writes: the API server's reply to a create, delete or status
// write goes into the cache before the next snapshot is taken.
#ifndef OPERATOR_RECONCILE_SNAPSHOT_H_
#define OPERATOR_RECONCILE_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/job/job.h"
#include "operator/agents/agent_seen.h"

namespace dynatrain::control {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// One pod of the job, read from the API server.
struct PodView {
  std::string name;
  uint32_t serial = 0;  // label dynatrain.io/serial
  std::string uid;
  PodPhase phase = PodPhase::kPending;
  std::string ip;    // "" before the sandbox exists
  std::string node;  // "" before it is scheduled
  // Why the scheduler could not place it; "" if it could or has not tried.
  std::string unschedulable;
  // When SIGKILL comes (metadata.deletionTimestamp; includes the grace).
  std::optional<absl::Time> deletion_time;
  // Reason of the condition DisruptionTarget=True: "EvictionByEvictionAPI", …
  std::string disruption;
  absl::Time disruption_time = absl::InfinitePast();  // its lastTransitionTime
  // When the training container started; absent before.
  std::optional<absl::Time> started;
  // Exit code of the training container, if it ended.
  std::optional<int> exit_code;
  // Why it does not run or ended, for people, beside the exit code:
  // "ImagePullBackOff: …", "OOMKilled", the init container's error.
  std::string message;

  bool ended() const {
    return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed ||
           exit_code.has_value();
  }
};

// The last creation of a pod failed, and none has worked since.
struct CreateError {
  std::string message;
  absl::Time time;
  bool namespace_ends = false;  // the namespace is being deleted
};

struct Snapshot {
  absl::Time now;
  api::Job job;
  // The job is gone from the API server; only metadata's names and uid hold.
  bool job_gone = false;
  // All pods of the job, Terminating ones too: a member that isn't here is
  // taken for dead, so no snapshot may be made before pods have been listed.
  std::vector<PodView> pods;
  // By serial; absent until the agent of the pod has answered.
  std::map<uint32_t, AgentSeen> agents;
  std::optional<CreateError> create_error;
  // JSON text of the committed generation's manifest, fetched from an agent;
  // "" if none could be asked.
  std::string manifest;

  // The term that this process took for this job; 0 before it took one.
  uint64_t term = 0;
  std::string operator_name;  // reportingInstance
  std::string agent_image;    // what new jobs get
  int agent_port = 7070;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_SNAPSHOT_H_
