// All that an agent knows, and the one place where commands of the operator,
// reports of the ranks, exits of their processes and time meet.
#ifndef AGENT_AGENT_STATE_H_
#define AGENT_AGENT_STATE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/client/messages.h"
#include "agent/config.h"
#include "agent/container_memory.h"
#include "agent/rank_server.h"
#include "agent/store_router.h"
#include "agent/worker_pool.h"
#include "api/rank/frame.h"
#include "transition/commit/fence.h"
#include "transition/commit/participant.h"

namespace dynatrain::agent {

// Why the ranks are to end; decides the signals they get and the exit code.
struct Ending {
  enum class Kind {
    kLeft,        // all local ranks have left the layout
    kDismissed,   // by the operator, or before they ever trained
    kGraceOver,   // the pod's grace ends: SIGTERM reaches the ranks
    kRankFailed,  // one of them died: the others can't go on without it
  };
  Kind kind;
  std::string reason;
};

// Thread-safe. Nothing here waits for a rank or the network under the lock.
class AgentState : public RankEvents {
 public:
  using Clock = std::chrono::steady_clock;
  using Fence = transition::Fence;

  struct Seams {
    // Called after every change that Tick, ending or TakeUnruly may care for.
    std::function<void()> wake;
    std::function<ContainerMemory()> memory;
  };

  // `router` and `workers` outlive this.
  AgentState(const AgentConfig& config, StoreRouter* router,
             WorkerPool* workers, Seams seams);

  // ---- The operator (api/rpc/agent.proto says what each means).
  Observation Observe(uint64_t known_version, std::chrono::milliseconds wait)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Greet(const Fence& fence) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Prepare(const Fence& fence, const Transition& transition)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for the ranks' answers, at most 3 s.
  absl::StatusOr<ArmReply> Arm(const Fence& fence, uint64_t step)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Go(const Fence& fence) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Cancel(const Fence& fence) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Abort(const Fence& fence, absl::string_view reason)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Commit(const Fence& fence) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Dismiss(const Fence& fence, const std::string& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);
  Manifest CommittedManifest() const ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- The ranks.
  absl::StatusOr<int> Hello(const api::Frame& hello,
                            std::shared_ptr<RankLink> link) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Report(int rank, const api::Frame& frame) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Lost(int rank, const absl::Status& why) override
      ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- The supervisor of their processes.
  void RankStarted(int rank, int64_t os_pid) ABSL_LOCKS_EXCLUDED(mutex_);
  // `code` as a shell says it: 128 + signal.
  void RankExited(int rank, int code) ABSL_LOCKS_EXCLUDED(mutex_);
  // SIGTERM was received: the ranks are told at `until`, unless they leave
  // first.
  void Leave(Clock::time_point until) ABSL_LOCKS_EXCLUDED(mutex_);
  void Tick(Clock::time_point now) ABSL_LOCKS_EXCLUDED(mutex_);
  // When Tick has something to do.
  std::optional<Clock::time_point> next_deadline() const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Set once, for ever.
  std::optional<Ending> ending() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Ranks that broke the protocol since the last call: to be killed.
  std::vector<int> TakeUnruly() ABSL_LOCKS_EXCLUDED(mutex_);
  // The agent ends: Observe waits no more, so that who waits in it hears last
  // how the ranks ended.
  void StopWaits() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct LocalRank {
    RankObservation seen;
    RankTransition part;
    std::optional<Clock::time_point> last_step;
    std::shared_ptr<RankLink> link;  // while connected
    bool connected_before = false;
  };

  absl::Status CheckMembership(const Transition& transition) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckMember(const World& world) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIn(const World& world) const;
  absl::Status Dispatch(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnStep(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnPlanned(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnPrepared(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnFailed(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnArmed(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnStopped(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnVerified(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnReleased(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnStore(int rank, const api::Frame& frame)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Runs `command` on the participant and carries out what follows from it.
  template <typename Command>
  absl::Status Run(absl::string_view name, Command command)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // After anything happened to the participant: tells the ranks its orders and
  // acts on a change of phase.
  void Follow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FollowPhase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PostToAll(const api::Frame& frame) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Something that Observe shows is new.
  void Changed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(Ending::Kind kind, std::string reason)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the ranks if a leave notice can't or needn't wait any more.
  void CheckLeave(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t HighestStep() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Observation Snapshot() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AgentConfig config_;
  StoreRouter* const router_;
  WorkerPool* const workers_;
  const Seams seams_;

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 1;
  // Steps alone raise the version only now and then.
  std::optional<Clock::time_point> raise_version_at_ ABSL_GUARDED_BY(mutex_);
  transition::Participant participant_ ABSL_GUARDED_BY(mutex_);
  transition::Phase last_phase_ ABSL_GUARDED_BY(mutex_) =
      transition::Phase::kNone;
  std::vector<LocalRank> ranks_ ABSL_GUARDED_BY(mutex_);
  Transition transition_ ABSL_GUARDED_BY(mutex_);  // last prepared
  Manifest prepared_manifest_ ABSL_GUARDED_BY(mutex_);
  Manifest manifest_ ABSL_GUARDED_BY(mutex_);  // committed
  std::optional<Clock::time_point> leave_until_ ABSL_GUARDED_BY(mutex_);
  std::optional<Ending> ending_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> unruly_ ABSL_GUARDED_BY(mutex_);
  bool stop_waits_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace dynatrain::agent

#endif  // AGENT_AGENT_STATE_H_
