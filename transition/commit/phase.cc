#include "transition/commit/phase.h"

namespace dynatrain::transition {

absl::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kNone:
      return "None";
    case Phase::kPreparing:
      return "Preparing";
    case Phase::kPrepared:
      return "Prepared";
    case Phase::kArmed:
      return "Armed";
    case Phase::kTransferring:
      return "Transferring";
    case Phase::kVerified:
      return "Verified";
    case Phase::kCommitted:
      return "Committed";
    case Phase::kReleased:
      return "Released";
    case Phase::kFailed:
      return "Failed";
    case Phase::kAborted:
      return "Aborted";
  }
  return "Unknown";
}

absl::string_view PhaseName(RecordPhase phase) {
  switch (phase) {
    case RecordPhase::kNone:
      return "None";
    case RecordPhase::kPlanned:
      return "Planned";
    case RecordPhase::kDraining:
      return "Draining";
    case RecordPhase::kCommitted:
      return "Committed";
    case RecordPhase::kReleased:
      return "Released";
    case RecordPhase::kAborted:
      return "Aborted";
    case RecordPhase::kSuperseded:
      return "Superseded";
  }
  return "Unknown";
}

bool IsOver(Phase phase) {
  return phase == Phase::kNone || phase == Phase::kReleased ||
         phase == Phase::kAborted;
}

bool IsOver(RecordPhase phase) {
  return phase == RecordPhase::kNone || phase == RecordPhase::kReleased ||
         phase == RecordPhase::kAborted || phase == RecordPhase::kSuperseded;
}

}  // namespace dynatrain::transition
