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
#include "transition/commit/phase.h"

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
  // Why it does not run or ended, for people: "ImagePullBackOff: …",
  // "OOMKilled", the init container's error.
  std::string message;

  bool ended() const {
    return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed ||
           exit_code.has_value();
  }
};

// The fields below are those of api/rpc/agent.proto, which explains them.
enum class RankState {
  kStarting,
  kReady,
  kTraining,
  kStopped,
  kFinished,
  kExited,
};

struct RankObservation {
  uint32_t local_rank = 0;
  uint64_t process_id = 0;
  std::string data_address;
  RankState state = RankState::kStarting;
  int exit_code = 0;
  int64_t generation = 0;
  int64_t step = 0;
  absl::Duration step_age = absl::InfiniteDuration();  // since its last step
  double loss = 0;
  int64_t samples = 0;
  double step_ms = 0;
  std::string error;
  std::string text;
};

struct RankTransition {
  uint32_t local_rank = 0;
  bool prepared = false;
  std::string manifest_digest;
  std::string plan_digest;
  uint64_t sent_hash = 0;
  uint64_t received_hash = 0;
  std::string mode;  // "warm", "cold"
  int64_t new_bytes = 0;
  int64_t staging_bytes = 0;
  int64_t kept_bytes = 0;
  int64_t moved_bytes = 0;    // planned, incoming
  int64_t minimal_bytes = 0;  // lower bound of incoming
  bool stopped = false;
  int64_t stopped_step = 0;
  bool verified = false;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  bool resumed = false;
  bool left = false;
  double pause_ms = 0;
  std::map<std::string, double> times_ms;        // of the preparation
  std::map<std::string, double> pause_parts_ms;  // from stop to resume
  std::string failure;
};

struct AgentTransition {
  std::string id;
  int64_t generation = 0;
  transition::Phase phase = transition::Phase::kNone;
  int64_t armed_step = 0;
  std::string failure;
  std::vector<RankTransition> ranks;
};

inline constexpr absl::Duration kSilentAfter = absl::Seconds(15);

struct AgentObservation {
  uint64_t term = 0;
  std::string job_uid;
  std::string agent_version;
  int64_t committed_generation = 0;
  std::string manifest_digest;
  bool leaving = false;  // SIGTERM was received
  absl::Duration leave_left = absl::InfiniteDuration();
  int64_t memory_limit_bytes = 0;  // 0: none
  int64_t memory_used_bytes = 0;
  std::vector<RankObservation> ranks;
  AgentTransition transition;
  // When the driver got this from the agent. It asks again at least every 5 s,
  // so an agent not heard for longer than kSilentAfter is silent.
  absl::Time received = absl::InfinitePast();
};

// The last creation of a pod failed, and none has worked since.
struct CreateError {
  std::string message;
  absl::Time time;
};

struct Snapshot {
  absl::Time now;
  api::Job job;
  // The job is gone from the API server; only metadata's names and uid hold.
  bool job_gone = false;
  // All pods of the job, Terminating ones too: a member that isn't here is
  // taken for dead, so no snapshot may be made before pods have been listed.
  std::vector<PodView> pods;
  // By serial: what the agent of a pod said last. Absent until it answered.
  std::map<uint32_t, AgentObservation> agents;
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
