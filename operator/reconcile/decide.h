// Decide: from what is seen of a job to what is to be done.
//
// A pure function: the same snapshot gives the same actions. It holds nothing
// between calls; what must outlive the operator is in the job's status. Called
// again before the effect of an action is seen, it asks for it again.
//
// In order: a job that is gone is cleaned up; the operator's term is taken; a
// job that is over, suspended or has lost state is put to rest; a transition
// that runs is driven on (transition/commit says how); else the goal is
// compared with what runs, and a new transition is planned; pods are created
// and deleted; status and events are brought up to date.
#ifndef OPERATOR_RECONCILE_DECIDE_H_
#define OPERATOR_RECONCILE_DECIDE_H_

#include <vector>

#include "operator/reconcile/action.h"
#include "operator/reconcile/snapshot.h"

namespace dynatrain::control {

std::vector<Action> Decide(const Snapshot& snapshot);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_DECIDE_H_
