// Drives the transition in status on, by the rules of transition/commit.
#ifndef OPERATOR_RECONCILE_DRIVE_H_
#define OPERATOR_RECONCILE_DRIVE_H_

#include "operator/reconcile/round.h"

namespace dynatrain::control {

enum class Driven {
  kBusy,     // a transition runs, or an ended one is still being told
  kFree,     // another one may start
  kDeposed,  // an agent obeys a newer operator
};

// Makes at most one durable step (into round.next) and adds the commands that
// follow from it.
Driven DriveTransition(Round& round);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_DRIVE_H_
