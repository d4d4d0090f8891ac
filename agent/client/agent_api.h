// What can be asked of the agent of a pod, behind a seam: the operator, other
// agents and tests use it alike, over gRPC (client.h) or with a fake.
#ifndef AGENT_CLIENT_AGENT_API_H_
#define AGENT_CLIENT_AGENT_API_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/client/messages.h"
#include "base/deadline.h"
#include "transition/commit/fence.h"

namespace dynatrain::agent {

// Thread-safe. Each call ends by `deadline`. Errors of all:
// - kUnavailable: not reached, or gone during the call; whether a command was
//   carried out is unknown. Try again: commands are idempotent.
// - kDeadlineExceeded: likewise, for lack of time.
// - kUnauthenticated: wrong job key.
// - kPermissionDenied: deposed: the agent has seen a higher term.
// - kFailedPrecondition: another generation, plan or phase; look again first.
// - kInvalidArgument: never try again.
// - kCancelled: after CancelCalls().
class AgentApi {
 public:
  using Fence = transition::Fence;

  virtual ~AgentApi() = default;

  // Returns at once if the agent's version isn't `known_version`, else when
  // it changes or after `wait` (at most 30 s).
  virtual absl::StatusOr<Observation> Observe(uint64_t known_version,
                                              std::chrono::milliseconds wait,
                                              Deadline deadline) = 0;
  virtual absl::Status Greet(const Fence& fence, Deadline deadline) = 0;
  virtual absl::Status Prepare(const Fence& fence, const Transition& transition,
                               Deadline deadline) = 0;
  // A refusal is no error: it is in the reply.
  virtual absl::StatusOr<ArmReply> Arm(const Fence& fence, uint64_t step,
                                       Deadline deadline) = 0;
  virtual absl::Status Go(const Fence& fence, Deadline deadline) = 0;
  virtual absl::Status Cancel(const Fence& fence, Deadline deadline) = 0;
  virtual absl::Status Abort(const Fence& fence, const std::string& reason,
                             Deadline deadline) = 0;
  virtual absl::Status Commit(const Fence& fence, Deadline deadline) = 0;
  virtual absl::Status Dismiss(const Fence& fence, const std::string& reason,
                               Deadline deadline) = 0;
  virtual absl::StatusOr<Manifest> GetManifest(Deadline deadline) = 0;
  virtual absl::StatusOr<StoreReply> Store(const StoreRequest& request,
                                           Deadline deadline) = 0;

  // Makes all present and later calls return kCancelled.
  virtual void CancelCalls() = 0;
};

}  // namespace dynatrain::agent

#endif  // AGENT_CLIENT_AGENT_API_H_
