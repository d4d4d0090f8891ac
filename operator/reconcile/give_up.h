// When a transition that is not decided yet should end, and why.
#ifndef OPERATOR_RECONCILE_GIVE_UP_H_
#define OPERATOR_RECONCILE_GIVE_UP_H_

#include <string>

#include "absl/time/time.h"
#include "operator/reconcile/round.h"

namespace dynatrain::control {

struct GiveUp {
  std::string reason;       // "": go on
  bool superseded = false;  // nothing failed: something else is wanted
};

// REQUIRES: round.next.transition is Planned or Draining. Asks the round to
// look again when the next deadline passes.
GiveUp WhyGiveUp(Round& round);

// For waits of ranks inside the pause: longer than a straggler may take to
// reach the boundary, so that the operator names it first.
absl::Duration TransferDeadline(const api::JobSpec& spec);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_GIVE_UP_H_
