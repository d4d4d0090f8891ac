// The phases of one transition: those an agent goes through, and those that are
// written to the job's status.
//
//   agent:  kNone -> kPreparing -> kPrepared <-> kArmed -> kTransferring
//                -> kVerified -> kCommitted -> kReleased
//           any before kVerified -> kFailed; any before kCommitted -> kAborted
//   record: kNone -> kPlanned -> kDraining -> kCommitted -> kReleased
//           kPlanned, kDraining -> kAborted or kSuperseded
//
// Law: both outcomes are a compare-and-swap of the same record, so there are
// never two. An agent in kVerified is in doubt: it alone decides nothing.
#ifndef TRANSITION_COMMIT_PHASE_H_
#define TRANSITION_COMMIT_PHASE_H_

#include <ostream>

#include "absl/strings/string_view.h"

namespace dynatrain::transition {

// Of an agent; the values are those of api/rpc's Phase.
enum class Phase {
  kNone = 0,
  kPreparing = 1,
  kPrepared = 2,
  kArmed = 3,
  kTransferring = 4,
  kVerified = 5,
  kCommitted = 6,
  kReleased = 7,
  kFailed = 8,
  kAborted = 9,
};

// Of the record in the job's status.
enum class RecordPhase {
  kNone,
  kPlanned,
  kDraining,
  kCommitted,
  kReleased,
  kAborted,
  kSuperseded,
};

// As written in status and logs: "Transferring".
absl::string_view PhaseName(Phase phase);
absl::string_view PhaseName(RecordPhase phase);

// True if a transition in this phase takes no further part: another may start.
bool IsOver(Phase phase);
bool IsOver(RecordPhase phase);

inline std::ostream& operator<<(std::ostream& out, Phase phase) {
  return out << PhaseName(phase);
}
inline std::ostream& operator<<(std::ostream& out, RecordPhase phase) {
  return out << PhaseName(phase);
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_COMMIT_PHASE_H_
