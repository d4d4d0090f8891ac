// The agent's side of the two-phase commit: the phase of one transition, from
// the operator's commands and the reports of the local ranks. Pure: time comes
// in as a value, what the ranks are to be told comes out as orders.
//
//   Participant participant(/*ranks=*/2);
//   RETURN_IF_ERROR(participant.Prepare(fence, terms, now));
//   for (const RankOrder& order : participant.TakeOrders()) Tell(order);
//   ...
//   RETURN_IF_ERROR(participant.RankPrepared(0, /*generation=*/4, "d1"));
//
// Laws:
// - A command that is refused changes nothing but the term; one that comes
//   again changes nothing and is OK.
// - Before kVerified it fails alone at its deadlines: the ranks are told Abort
//   at once and kFailed is never left but by Abort. In kVerified it decides
//   nothing: it waits for Commit or Abort without a deadline.
// - A generation that is over, or was aborted before it came, never starts.
#ifndef TRANSITION_COMMIT_PARTICIPANT_H_
#define TRANSITION_COMMIT_PARTICIPANT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transition/commit/fence.h"
#include "transition/commit/phase.h"

namespace dynatrain::transition {

// What Prepare says of the transition, as far as the protocol needs it.
struct TransitionTerms {
  std::string id;
  uint64_t generation = 0;         // the target's
  uint64_t source_generation = 0;  // 0 in the first start
  bool in_source = false;          // this pod trains in the source world
  bool in_target = false;
  std::chrono::milliseconds prepare_deadline{0};
  std::chrono::milliseconds transfer_deadline{0};
};

// For all local ranks alike.
struct RankOrder {
  enum class Kind { kPrepare, kArm, kGo, kCancel, kAbort, kCommit };
  Kind kind = Kind::kPrepare;
  uint64_t generation = 0;
  uint64_t step = 0;  // with kArm

  friend bool operator==(const RankOrder&, const RankOrder&) = default;
};

// Thread-compatible; a value that can be copied.
class Participant {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // REQUIRES: ranks > 0.
  explicit Participant(int ranks) : ranks_(ranks) {}

  // Commands. All return kPermissionDenied ("deposed") for a lower term and
  // remember a higher one; but for Greet they return kFailedPrecondition for
  // another generation, another plan or a phase that doesn't allow them.
  absl::Status Greet(const Fence& fence);
  absl::Status Prepare(const Fence& fence, const TransitionTerms& terms,
                       Time now);
  // OK means that the ranks are being asked: see arm().
  absl::Status Arm(const Fence& fence, uint64_t step);
  absl::Status Go(const Fence& fence, Time now);
  absl::Status Cancel(const Fence& fence);
  // Also of a transition that hasn't come yet: then it never starts.
  absl::Status Abort(const Fence& fence, absl::string_view reason);
  absl::Status Commit(const Fence& fence);

  // Reports of local rank `rank` in [0, ranks). What crossed an Abort or Cancel
  // on its way is dropped. kInvalidArgument: no rank that follows the protocol
  // says this now. `plan_digest`: what the rank's plan agrees on
  // (plan/agreement.h), which it may say before it is prepared; if another
  // rank said something else, this member fails.
  absl::Status RankPlanned(int rank, uint64_t generation,
                           absl::string_view plan_digest);
  absl::Status RankPrepared(int rank, uint64_t generation,
                            absl::string_view plan_digest);
  absl::Status RankArmed(int rank, uint64_t generation, uint64_t step, bool ok,
                         uint64_t seen);
  absl::Status RankStopped(int rank, uint64_t generation, uint64_t step,
                           Time now);
  absl::Status RankVerified(int rank, uint64_t generation);
  // Trains in, or has left for, the committed generation.
  absl::Status RankReleased(int rank, uint64_t generation);
  absl::Status RankFailed(int rank, uint64_t generation,
                          absl::string_view reason);
  // Its data is exhausted: it won't stop for a transition any more.
  void RankFinished(int rank);
  void RankExited(int rank, absl::string_view how);

  // Fails the transition if one of its deadlines has passed.
  void Tick(Time now);
  // When Tick has something to do; none if nothing runs out.
  std::optional<Time> next_deadline() const;

  // Orders since the last call, oldest first.
  std::vector<RankOrder> TakeOrders();

  enum class ArmState { kNone, kPending, kArmed, kRefused };
  // Outcome of the last Arm; kRefused says why in `arm_refusal`.
  ArmState arm() const { return arm_; }
  const std::string& arm_refusal() const { return arm_refusal_; }
  // The local rank stands still after the step of the last Arm.
  bool stopped(int rank) const { return ranks_[rank].stopped; }
  // Local ranks that owe an answer to an Arm.
  std::vector<int> unanswered() const;
  // A local rank didn't answer in time: takes Arm back, as a refusal.
  void GiveUpArm(absl::string_view reason);

  uint64_t term() const { return term_; }
  uint64_t committed_generation() const { return committed_generation_; }
  Phase phase() const { return phase_; }
  // Of the transition that runs or ran last; generation 0 if there was none.
  const TransitionTerms& terms() const { return terms_; }
  uint64_t generation() const { return terms_.generation; }
  uint64_t armed_step() const { return armed_step_; }
  const std::string& failure() const { return failure_; }

  // All that decides what comes next, for logs and the model check.
  std::string DebugString() const;

 private:
  struct Part {
    bool prepared = false;
    bool armed = false;
    bool stopped = false;
    bool verified = false;
    bool released = false;
    bool finished = false;    // for ever
    int unanswered_arms = 0;  // Arms it hasn't answered, also old ones
    bool exited = false;      // for ever
  };

  absl::Status CheckTerm(const Fence& fence);
  // If the local ranks can take part.
  absl::Status CheckRanksFor(const TransitionTerms& terms) const;
  // Has begun and may still fail.
  bool InProgress() const;
  // Whether the rank has the plan of the one that told of it first; if not,
  // fails.
  bool AgreesOn(int rank, absl::string_view plan_digest);
  // Term, generation and plan.
  absl::Status CheckFence(const Fence& fence);
  // False, with `status`, if a report of `generation` isn't to be looked at.
  bool Concerns(int rank, uint64_t generation, absl::string_view what,
                absl::Status* status) const;
  absl::Status Nonsense(int rank, absl::string_view what) const;
  absl::Status WrongPhase(absl::string_view command,
                          absl::string_view wanted) const;
  template <typename Condition>
  bool AllRanks(Condition condition) const;
  void Order(RankOrder::Kind kind, uint64_t step = 0);
  void Reset(const TransitionTerms& terms, Phase phase);
  void Disarm();
  void RefuseArm(std::string reason);
  void Fail(std::string reason);
  void ReleaseIfAll();

  std::vector<Part> ranks_;
  uint64_t term_ = 0;
  uint64_t committed_generation_ = 0;
  TransitionTerms terms_;
  Phase phase_ = Phase::kNone;
  std::string plan_digest_;  // of the first rank that said it
  int planned_first_ = 0;
  ArmState arm_ = ArmState::kNone;
  std::string arm_refusal_;
  uint64_t armed_step_ = 0;
  std::string failure_;
  std::optional<Time> prepare_by_;
  std::optional<Time> transfer_by_;
  std::vector<RankOrder> orders_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_COMMIT_PARTICIPANT_H_
