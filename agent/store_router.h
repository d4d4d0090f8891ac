// Takes the ranks' store calls to the agent that hosts the generation's store,
// which may be this one.
#ifndef AGENT_STORE_ROUTER_H_
#define AGENT_STORE_ROUTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/client/agent_api.h"
#include "agent/client/messages.h"
#include "agent/rendezvous_store.h"

namespace dynatrain::agent {

// Thread-safe. One generation is open at a time; one that was closed, and all
// before it, stay closed.
class StoreRouter {
 public:
  using Connect = std::function<absl::StatusOr<std::unique_ptr<AgentApi>>(
      const std::string& address)>;

  explicit StoreRouter(Connect connect) : connect_(std::move(connect)) {}

  // The store of `generation` is here.
  void OpenHere(uint64_t generation) ABSL_LOCKS_EXCLUDED(mutex_);
  // ... or at the agent with this address.
  void OpenAt(uint64_t generation, const std::string& address)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Also of a generation that was never open. Calls that wait end.
  void Close(uint64_t generation, absl::string_view reason)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // A local rank's call.
  StoreReply FromRank(const StoreRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);
  // Another agent's call. It may come before this agent has been told to
  // prepare: then it waits for that, at most request.timeout.
  StoreReply FromAgent(const StoreRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // "" if `generation` is the open one.
  std::string NotOpen(uint64_t generation) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Replace(uint64_t generation, std::shared_ptr<RendezvousStore> local,
               std::shared_ptr<AgentApi> host) ABSL_LOCKS_EXCLUDED(mutex_);

  const Connect connect_;
  absl::Mutex mutex_;
  absl::CondVar opened_;
  uint64_t open_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t closed_ ABSL_GUARDED_BY(mutex_) = 0;  // this one and those before it
  std::string closed_reason_ ABSL_GUARDED_BY(mutex_) = "never open";
  // Of the open generation: one of the two.
  std::shared_ptr<RendezvousStore> local_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<AgentApi> host_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::agent

#endif  // AGENT_STORE_ROUTER_H_
