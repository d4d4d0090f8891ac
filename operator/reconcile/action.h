// What a decision asks for: plain values that the driver carries out in order.
//
// Rules for the driver:
// - The list is carried out in order; the first that fails ends the round
//   (a new snapshot, a new decision), but a failed event or command is logged
//   and passed over.
// - There is at most one WriteStatus. It is a compare-and-swap on the
//   resourceVersion of the snapshot; what follows it in the list rests on it
//   and is dropped if it fails (409: read again, decide again).
// - Commands to agents are idempotent and are asked for in each round until
//   the observations show their effect. The driver need not send one that is
//   still in flight to the same agent, and may send to several agents at once.
#ifndef OPERATOR_RECONCILE_ACTION_H_
#define OPERATOR_RECONCILE_ACTION_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "agent/client/messages.h"
#include "api/job/status.h"
#include "transition/commit/fence.h"

namespace dynatrain::control {

struct CreatePod {
  uint32_t serial = 0;
  std::string name;
  // JSON. A decision doesn't know the job's key: the driver puts it in as the
  // value of the first container's variable DYNATRAIN_KEY.
  std::string body;
  bool operator==(const CreatePod&) const = default;
};

struct DeletePod {
  std::string name;
  std::string uid;  // precondition
  // Negative: the pod's own grace.
  absl::Duration grace = -absl::Seconds(1);
  std::string reason;  // for the log
  bool operator==(const DeletePod&) const = default;
};

struct WriteStatus {
  api::JobStatus status;
  // The write raises operator_term: once it is done, the driver's term for
  // this job is status.operator_term.
  bool takes_term = false;
  bool operator==(const WriteStatus&) const = default;
};

// One agent to speak to.
struct AgentTarget {
  uint32_t serial = 0;
  std::string address;  // "ip:port"
  bool operator==(const AgentTarget&) const = default;
};

using transition::Fence;

// Raises the agents' term, so that they obey no older operator.
struct SendGreet {
  Fence fence;
  std::vector<AgentTarget> targets;
  bool operator==(const SendGreet&) const = default;
};

// The transition without its manifest. The driver puts that in: GetManifest of
// the first agent that has `manifest_digest`; none if the source is empty.
struct SendPrepare {
  Fence fence;
  std::vector<AgentTarget> targets;
  agent::Transition transition;
  std::string manifest_digest;
  bool operator==(const SendPrepare&) const = default;
};

// A refusal says the highest step that the agent has seen. Its ranks' steps in
// the next snapshot must not be lower, or the same step is asked for again.
struct SendArm {
  Fence fence;
  std::vector<AgentTarget> targets;
  int64_t step = 0;
  bool operator==(const SendArm&) const = default;
};

struct SendGo {
  Fence fence;
  std::vector<AgentTarget> targets;
  bool operator==(const SendGo&) const = default;
};

struct SendCancel {
  Fence fence;
  std::vector<AgentTarget> targets;
  bool operator==(const SendCancel&) const = default;
};

struct SendAbort {
  Fence fence;
  std::vector<AgentTarget> targets;
  std::string reason;
  bool operator==(const SendAbort&) const = default;
};

struct SendCommit {
  Fence fence;
  std::vector<AgentTarget> targets;
  bool operator==(const SendCommit&) const = default;
};

struct SendDismiss {
  Fence fence;
  std::vector<AgentTarget> targets;
  std::string reason;
  bool operator==(const SendDismiss&) const = default;
};

struct RecordEvent {
  bool warning = false;
  std::string reason;  // CamelCase
  // What was being done. Events of one reason and one action are shown as one
  // that happened several times, with the first note.
  std::string action;
  std::string note;
  bool operator==(const RecordEvent&) const = default;
};

struct RequeueAfter {
  absl::Duration delay;
  std::string why;  // what is waited for
  bool operator==(const RequeueAfter&) const = default;
};

// Another operator has the job: this one does nothing for it, until a snapshot
// shows otherwise.
struct StandDown {
  uint64_t term = 0;  // of the other
  bool operator==(const StandDown&) const = default;
};

using Action =
    std::variant<CreatePod, DeletePod, WriteStatus, SendGreet, SendPrepare,
                 SendArm, SendGo, SendCancel, SendAbort, SendCommit,
                 SendDismiss, RecordEvent, RequeueAfter, StandDown>;

// One line for logs and test failures.
std::string DebugString(const Action& action);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_ACTION_H_
