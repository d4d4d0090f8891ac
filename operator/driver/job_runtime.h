// What this process holds for one job between two rounds.
//
// Nothing here is needed by the next operator: it is connections, caches, and
// the term that this very process took.
#ifndef OPERATOR_DRIVER_JOB_RUNTIME_H_
#define OPERATOR_DRIVER_JOB_RUNTIME_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "operator/agents/agent_link.h"
#include "operator/reconcile/snapshot.h"

namespace dynatrain::control {

using AgentFactory =
    std::function<absl::StatusOr<std::unique_ptr<agent::AgentApi>>(
        const std::string& address, const std::string& key)>;

// Thread-compatible: only the worker that has the job's key uses it.
class JobRuntime {
 public:
  JobRuntime(std::string uid, std::string key, int agent_port,
             AgentFactory factory, AgentEvents events)
      : uid_(std::move(uid)),
        key_(std::move(key)),
        agent_port_(agent_port),
        factory_(std::move(factory)),
        events_(std::move(events)) {}

  const std::string& uid() const { return uid_; }
  const std::string& key() const { return key_; }

  // Connects to the agents of pods that have an address and run, and drops the
  // connections to all others.
  void Connect(const std::vector<PodView>& pods);

  // The link to an agent; null if there is none, or if it is at another
  // address than `address`.
  AgentLink* Link(uint32_t serial, const std::string& address) const;
  // What the agents said, by serial.
  std::map<uint32_t, AgentSeen> Observations() const;

  // The manifest with `digest`, from the cache or from an agent that has it;
  // kUnavailable if none gives it.
  absl::StatusOr<std::string> Manifest(const std::string& digest);

  // This process's term; 0 before it took one.
  uint64_t term = 0;
  // Since when another operator is known to have the job: this one says and
  // writes nothing more.
  std::optional<absl::Time> deposed_since;
  std::optional<CreateError> create_error;

 private:
  std::string AddressOf(const PodView& pod) const;

  const std::string uid_;
  const std::string key_;
  const int agent_port_;
  const AgentFactory factory_;
  const AgentEvents events_;
  std::map<uint32_t, std::unique_ptr<AgentLink>> links_;
  std::string manifest_digest_;
  std::string manifest_;
  // Not asked again before this: a fetch may take its whole deadline.
  absl::Time next_fetch_ = absl::InfinitePast();
};

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_JOB_RUNTIME_H_
