// What the agent has ordered, and where this process stands: all that frames,
// step boundaries and transfers agree on, under one lock, so that an arm
// that comes while a step ends is either obeyed or refused and never missed.
//
//   prepared ─arm─▶ armed ─boundary S─▶ stopped ─go─▶ moving ─verified─▶ in
//   doubt ─commit─▶ committed
//        ◀─────────────── cancel ──────────────┘  └── cancel, abort ──┘
//        └─abort─▶ aborted
#ifndef AGENT_RUNTIME_ORDERS_H_
#define AGENT_RUNTIME_ORDERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/deadline.h"
#include "transition/transport/cancellation.h"

namespace dynatrain::runtime {

enum class BoundaryAction { kContinue, kStop, kDismiss };

// Thread-safe. Generations are those of the target of a transition unless said
// otherwise.
class Orders {
 public:
  using Cancellation = transition::Cancellation;

  // ---- from the agent's frames

  // A new attempt at `generation`. `source_generation` is the world that this
  // process has to stop in; nullopt if it isn't in the source world.
  void Prepare(uint64_t generation, std::optional<uint64_t> source_generation);
  struct ArmAnswer {
    bool ok = false;
    uint64_t seen = 0;  // the last completed step of the source world
  };
  ArmAnswer Arm(uint64_t generation, uint64_t step);
  // The agent has been told the answer to Arm; the rank may say that it
  // stopped.
  void ArmAnswered(uint64_t generation);
  void Go(uint64_t generation);
  void Cancel(uint64_t generation);
  void Abort(uint64_t generation);
  void Commit(uint64_t generation);
  void Dismiss(absl::string_view reason);
  // The agent is gone; nothing more will come.
  void Lose(absl::string_view reason);

  // ---- from the training thread

  // `step` steps of the world `source_generation` are complete.
  BoundaryAction Boundary(uint64_t source_generation, uint64_t step);

  // ---- from a transfer; each of these waits returns kUnavailable if the agent
  // is lost and kCancelled if it dismissed this process.

  // The step that the process stopped after; nullopt if it isn't in the source
  // world. Waits until the agent has the answer to Arm. kFailedPrecondition if
  // there is no such transition or this process is in its source world and
  // hasn't been told to stop.
  absl::StatusOr<std::optional<uint64_t>> BeginTransfer(uint64_t generation);
  enum class Word { kGo, kCancel, kAbort, kCommit };
  // kGo, kCancel or kAbort; kDeadlineExceeded. A cancel is used up.
  absl::StatusOr<Word> WaitForGo(uint64_t generation, Deadline deadline);
  // From here on the process is in doubt: no cancel is heard any more. False,
  // and it isn't, if the transfer has been taken back already.
  bool Verified(uint64_t generation);
  // kCommit, or kAbort: the old world goes on.
  absl::StatusOr<Word> WaitForOutcome(uint64_t generation, Deadline deadline);
  // What has ended the transfer, if anything has: kCancel, which is used up, or
  // kAbort.
  std::optional<Word> TakenBack(uint64_t generation);

  // Raised by Cancel (once moving), Abort, Dismiss and Lose. Null if there is
  // no such transition.
  std::shared_ptr<Cancellation> cancellation(uint64_t generation);
  void Drop(uint64_t generation);

  // kUnavailable once lost, kCancelled once dismissed.
  absl::Status Alive();

 private:
  struct Transition {
    std::optional<uint64_t> source_generation;
    std::optional<uint64_t> armed_step;
    bool arm_answered = false;
    // Boundary() has said so, and the transfer hasn't heard of a cancel since.
    // Arming again changes neither: the training thread may be on its way from
    // the boundary to the transfer, which must still hear of the cancel.
    bool stopped = false;
    bool cancel = false;
    bool go = false;
    bool moving = false;
    bool verified = false;
    bool abort = false;
    bool commit = false;
    std::shared_ptr<Cancellation> cancellation;
  };

  Transition* Find(uint64_t generation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AliveLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the transition is gone, this process may not go on, or `ready`.
  template <typename Ready>
  absl::Status Await(uint64_t generation, absl::string_view what,
                     Deadline deadline, Ready ready)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  std::map<uint64_t, Transition> transitions_ ABSL_GUARDED_BY(mutex_);
  // By world: the last boundary. A few of the latest worlds.
  std::map<uint64_t, uint64_t> last_step_ ABSL_GUARDED_BY(mutex_);
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // dismissed or lost
};

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_ORDERS_H_
