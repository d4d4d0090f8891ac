// The operator's side of the two-phase commit: from what is recorded in the
// job's status and what the agents report now, the next command or durable
// write. Pure and without memory, so an operator that starts anywhere in a
// transition goes on by asking again.
//
//   TransitionView view{.term = 7, .record = RecordPhase::kDraining,
//                       .generation = 4, .members = ..., .reports = ...};
//   const Decision next = Decide(view);
//   // act on `next`, look again, decide again
//
// Laws, checked over all interleavings in model_test.cc:
// - Committed and Aborted are decided by the write alone. Write first (as a
//   compare-and-swap on the resourceVersion the view was read at, with
//   operatorTerm unchanged), then tell; never tell Commit or Abort of what is
//   not written.
// - Committed is written only in Draining, and only when every target member
//   has verified and every member that leaves has verified or is gone, and all
//   of them that train had stopped at the same step.
// - The generation of an attempt is never used again, not even after Aborted:
//   next = 1 + the highest generation ever recorded. A late message of an old
//   attempt then matches nothing.
#ifndef TRANSITION_COMMIT_COORDINATOR_H_
#define TRANSITION_COMMIT_COORDINATOR_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transition/commit/phase.h"

namespace dynatrain::transition {

// A pod of the source world, of the target world or of both (a survivor).
struct CommitMember {
  uint32_t serial = 0;
  bool in_source = false;
  bool in_target = false;
};

// What is known of one member now.
struct MemberReport {
  enum class Reach {
    kSilent,     // no fresh answer: the fields below say nothing
    kAnswering,  // the fields below are what it said last
    kGone,       // its pod is terminal or deleted: it never answers again
  };
  uint32_t serial = 0;
  Reach reach = Reach::kSilent;
  uint64_t term = 0;        // highest it has seen
  uint64_t generation = 0;  // of the transition it knows last; 0 if none
  Phase phase = Phase::kNone;
  uint64_t armed_step = 0;  // from kArmed on
  uint64_t seen_step = 0;   // highest step a local rank has completed
  // What its ranks agree on (plan/agreement.h): once one of them has said it,
  // at the latest from kPrepared on.
  std::string plan_digest = {};
  uint64_t sent_hash = 0;  // sums of its ranks' route hashes, mod 2^64
  uint64_t received_hash = 0;
  std::string failure = {};  // why it failed, for a person
};

struct TransitionView {
  uint64_t term = 0;  // this operator's, as status.operatorTerm says
  RecordPhase record = RecordPhase::kNone;
  uint64_t generation = 0;  // the target's
  std::vector<CommitMember> members = {};
  std::vector<MemberReport> reports = {};  // a member without one is silent
  // Not empty: why this transition should end if it still can (a deadline
  // passed and for whom; the spec changed).
  std::string give_up = {};
  bool superseded = false;  // then kWriteSuperseded instead of kWriteAborted
};

enum class Action {
  kDone,       // the transition is over and all who can be told have been
  kWait,       // nothing to do until a report or the record changes
  kStandDown,  // an agent has seen a higher term: this operator is deposed
  kGreet,      // commands to `serials`, with the view's term and generation
  kPrepare,
  kArm,
  kGo,
  kCancel,
  kCommit,
  kAbort,
  kWriteDraining,  // durable writes
  kWriteCommitted,
  kWriteReleased,
  kWriteAborted,
  kWriteSuperseded,
};

// "Arm", "WriteCommitted".
absl::string_view ActionName(Action action);
inline std::ostream& operator<<(std::ostream& out, Action action) {
  return out << ActionName(action);
}

struct Decision {
  Action action = Action::kWait;
  // Whom to command; with kWait those who are waited for. In the members'
  // order.
  std::vector<uint32_t> serials = {};
  uint64_t step = 0;  // with kArm
  // For the fence of the command (empty with kGreet, kPrepare and kAbort).
  std::string plan_digest = {};
  // For a person: what is waited for, or why it is aborted.
  std::string reason = {};

  std::string DebugString() const;
};

// Returns the next action. Idempotent: deciding again before the effect of an
// action is seen gives it again, and each action may be done twice. A refused
// Arm must reach `seen_step` before the next decision, or it is repeated.
// REQUIRES: serials in `members` are distinct and each member is in a world.
Decision Decide(const TransitionView& view);

}  // namespace dynatrain::transition

#endif  // TRANSITION_COMMIT_COORDINATOR_H_
