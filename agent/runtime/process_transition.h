// One process's part in one transition: its plan, its links, what is bound, and
// the state that is no tensor.
#ifndef AGENT_RUNTIME_PROCESS_TRANSITION_H_
#define AGENT_RUNTIME_PROCESS_TRANSITION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "api/rank/transition_order.h"
#include "base/deadline.h"
#include "base/fingerprint.h"
#include "transition/engine/bindings.h"
#include "transition/engine/transfer.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"
#include "transition/transport/cancellation.h"
#include "transition/transport/transport.h"

namespace dynatrain::runtime {

// Thread-safe.
class ProcessTransition {
 public:
  // Computes the plan. `manifest` is JSON text of the world that this process
  // has built. Returns kInvalidArgument for a malformed one,
  // kFailedPrecondition with the difference by tensor name if it isn't the
  // transition's.
  static absl::StatusOr<std::unique_ptr<ProcessTransition>> Create(
      api::TransitionOrder order, absl::string_view manifest,
      uint64_t process_id);
  // With a plan that is there already. Returns kFailedPrecondition, naming the
  // tensor and the region, if it doesn't give this process all that it is to
  // hold, or something twice.
  static absl::StatusOr<std::unique_ptr<ProcessTransition>> CreateWithPlan(
      api::TransitionOrder order, Fingerprint manifest_digest,
      transition::PlanInput input, transition::ProcessPlan plan);

  // Makes the links to all peers. REQUIRES: once.
  absl::Status Connect(transition::Transport& transport,
                       const transition::StagingBudget& budget,
                       Deadline deadline,
                       const transition::Cancellation& cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const api::TransitionOrder& order() const { return order_; }
  // Of the manifest that source and target are made of.
  const Fingerprint& manifest_digest() const { return manifest_digest_; }
  const transition::PlanInput& input() const { return input_; }
  const transition::ProcessPlan& plan() const { return plan_; }
  size_t staging_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns kInvalidArgument, also if this process is in no world of that
  // side; kFailedPrecondition while Run() runs.
  absl::Status Bind(transition::BindingSide side, int64_t tensor, void* data,
                    absl::Span<const int64_t> shape,
                    absl::Span<const int64_t> strides_bytes)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status PutBlob(transition::BlobKind kind, std::string bytes)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Empty if none came.
  std::string GetBlob(transition::BlobKind kind) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Moves, see transition::RunTransfer. Only once: links can't be used again.
  absl::StatusOr<transition::TransferReport> Run(
      Deadline deadline, const transition::Cancellation& cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Closes the links and forgets the bindings; blobs stay.
  // REQUIRES: Run() doesn't run.
  void Release() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class State { kNew, kConnected, kRunning, kDone };

  ProcessTransition(api::TransitionOrder order, Fingerprint manifest_digest,
                    transition::PlanInput input, transition::ProcessPlan plan);
  transition::TransportPeer PeerOf(
      const transition::PeerExchange& exchange) const;

  const api::TransitionOrder order_;
  const Fingerprint manifest_digest_;
  const transition::PlanInput input_;
  const transition::ProcessPlan plan_;
  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kNew;
  // Those three are Run()'s alone while it runs.
  transition::Links links_;
  std::optional<transition::Bindings> source_;
  std::optional<transition::Bindings> target_;
  transition::Blobs put_ ABSL_GUARDED_BY(mutex_);
  transition::Blobs got_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_PROCESS_TRANSITION_H_
