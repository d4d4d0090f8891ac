// The operator's connection to the agent of one pod.
//
// Two threads: one long-polls Observe and keeps the last answer, one sends
// commands in order. So a command to N agents takes about one round trip, and
// a slow command delays neither the observations nor the other agents.
#ifndef OPERATOR_AGENTS_AGENT_LINK_H_
#define OPERATOR_AGENTS_AGENT_LINK_H_

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "agent/client/agent_api.h"
#include "operator/agents/agent_seen.h"

namespace dynatrain::control {

// Who should be at the other end. Addresses of pods are used again, so an
// agent that says it is another one is not listened to.
struct AgentIdentity {
  std::string job_uid;
  uint32_t serial = 0;
  std::string address;  // "ip:port"
};

struct AgentLinkOptions {
  // The agent answers at the latest after this: a heartbeat.
  std::chrono::milliseconds observe_wait{1000};
  // An answer that is so much later than that is no answer.
  std::chrono::milliseconds observe_slack{2000};
  std::chrono::milliseconds command_deadline{5000};
  // After a failed Observe or command: how long until the next.
  absl::Duration retry = absl::Milliseconds(200);
};

// A command for the sending thread.
struct AgentCommand {
  // What it is about: command, generation, term.
  std::string key;
  // The same and its details, for logs.
  std::string text;
  std::function<absl::Status(agent::AgentApi&, Deadline)> send;
};

// Called on threads of the link.
struct AgentEvents {
  // An observation differs from the last, or the agent has fallen silent.
  std::function<void()> on_change;
  // A command was not carried out, or maybe not; it is in the log.
  std::function<void()> on_failure;
};

// Thread-safe.
class AgentLink {
 public:
  AgentLink(AgentIdentity identity, std::unique_ptr<agent::AgentApi> api,
            AgentEvents events, AgentLinkOptions options = {});
  // Cancels what is under way.
  ~AgentLink();

  const AgentIdentity& identity() const { return identity_; }

  // What the agent said last, however long ago; none before its first answer.
  std::optional<AgentSeen> last() const;

  // Queues `command`, unless the last one has the same key and what came of it
  // can't be seen yet: it is queued or under way, it was obeyed and no Observe
  // since has been answered, or it failed a moment ago. on_change or on_failure
  // is called when it makes sense to ask again. Returns whether it was queued.
  bool Send(AgentCommand command);
  // Waits until all queued commands were answered or failed: for fail points.
  void Flush(absl::Duration timeout);

  absl::StatusOr<agent::Manifest> GetManifest(Deadline deadline) {
    return api_->GetManifest(deadline);
  }

 private:
  void Observe(std::stop_token stop);
  // Takes an answer in. Returns whether the driver should look.
  bool Keep(agent::Observation observation);
  void SendQueued();
  // Sends one command and notes what came of it.
  void SendOne(const AgentCommand& command);
  bool Idle() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return queue_.empty() && !under_way_;
  }
  bool TooEarlyFor(const std::string& key) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  // The last command that was queued.
  struct Last {
    std::string key;
    bool answered = false;
    int seen_after = 0;  // obeyed: the first Observe that shows its effect
    absl::Time not_before = absl::InfinitePast();  // failed
    bool wanted_again = false;
  };

  const AgentIdentity identity_;
  const std::unique_ptr<agent::AgentApi> api_;
  const AgentEvents events_;
  const AgentLinkOptions options_;
  mutable absl::Mutex mutex_;
  std::optional<AgentSeen> last_ ABSL_GUARDED_BY(mutex_);
  std::deque<AgentCommand> queue_ ABSL_GUARDED_BY(mutex_);
  bool under_way_ ABSL_GUARDED_BY(mutex_) = false;
  Last sent_ ABSL_GUARDED_BY(mutex_);
  int observes_begun_ ABSL_GUARDED_BY(mutex_) = 0;
  int observes_done_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread observer_;
  std::jthread sender_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_AGENTS_AGENT_LINK_H_
