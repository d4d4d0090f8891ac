// A rank process's session with its agent: what libdynatrain.so is made of,
// without the C around it.
#ifndef AGENT_RUNTIME_SESSION_H_
#define AGENT_RUNTIME_SESSION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "agent/runtime/orders.h"
#include "agent/runtime/process_transition.h"
#include "agent/runtime/session_config.h"
#include "agent/runtime/store_client.h"
#include "agent/runtime/transfer_call.h"
#include "api/rank/frame_channel.h"
#include "base/deadline.h"
#include "nlohmann/json.hpp"
#include "transition/engine/bindings.h"
#include "transition/plan/blobs.h"
#include "transition/transport/host_transport.h"

namespace dynatrain::runtime {

// Thread-safe. Each method does what the function of its name in dynatrain.h
// says; errors by status: kInvalidArgument, kDeadlineExceeded, kUnavailable
// (agent or peer gone), kFailedPrecondition (refused), kDataLoss, kCancelled.
class Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Open(SessionConfig config);
  // REQUIRES: no other call runs.
  ~Session();

  const nlohmann::json& welcome() const { return welcome_; }
  uint64_t process_id() const { return process_id_; }

  absl::StatusOr<nlohmann::json> Next(Deadline deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Report(nlohmann::json frame);
  absl::StatusOr<nlohmann::json> Plan(const nlohmann::json& transition,
                                      absl::string_view manifest);
  absl::Status Bind(uint64_t generation, transition::BindingSide side,
                    int64_t tensor, void* data, absl::Span<const int64_t> shape,
                    absl::Span<const int64_t> strides_bytes);
  absl::Status PutBlob(uint64_t generation, transition::BlobKind kind,
                       std::string bytes);
  absl::StatusOr<std::string> GetBlob(uint64_t generation,
                                      transition::BlobKind kind);
  absl::StatusOr<BoundaryAction> Boundary(uint64_t generation, uint64_t step);
  absl::StatusOr<TransferOutcome> Transfer(uint64_t generation);
  // While a transfer of it runs: at its end.
  void Drop(uint64_t generation) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<StoreReply> Store(const nlohmann::json& request,
                                   absl::string_view value) {
    return store_.Call(request, value);
  }

 private:
  Session(SessionConfig config, uint64_t process_id,
          std::unique_ptr<api::FrameChannel> channel,
          std::unique_ptr<transition::HostTransport> transport,
          nlohmann::json welcome);

  // The control thread.
  void ReadFrames();
  absl::Status Obey(const api::Frame& frame);
  absl::Status ObeyPrepare(const api::Frame& frame);
  absl::Status ObeyArm(const api::Frame& frame);
  void Instruct(nlohmann::json instruction) ABSL_LOCKS_EXCLUDED(mutex_);
  void Lose(absl::string_view reason);

  // What a generation of Plan() holds on to.
  struct Planned {
    std::shared_ptr<ProcessTransition> transition;
    bool in_transfer = false;
    bool drop_after_transfer = false;
  };

  absl::Status Send(nlohmann::json fields);
  absl::StatusOr<std::shared_ptr<ProcessTransition>> BeginTransfer(
      uint64_t generation) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndTransfer(uint64_t generation) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::shared_ptr<ProcessTransition>> Find(uint64_t generation)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const SessionConfig config_;
  const uint64_t process_id_;
  const std::unique_ptr<api::FrameChannel> channel_;
  const std::unique_ptr<transition::HostTransport> transport_;
  const nlohmann::json welcome_;
  Orders orders_;
  StoreClient store_;
  absl::Mutex mutex_;
  std::map<uint64_t, Planned> planned_ ABSL_GUARDED_BY(mutex_);
  std::deque<nlohmann::json> instructions_ ABSL_GUARDED_BY(mutex_);
  absl::Status lost_ ABSL_GUARDED_BY(mutex_);
  std::thread control_;
};

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_SESSION_H_
