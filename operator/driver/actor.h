// Act: carries out what a decision asks for.
//
// Each effect is idempotent: asked for again, before its effect is seen, it
// does no harm. The rules of operator/reconcile/action.h are kept here.
#ifndef OPERATOR_DRIVER_ACTOR_H_
#define OPERATOR_DRIVER_ACTOR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "operator/driver/fail_points.h"
#include "operator/driver/job_runtime.h"
#include "operator/kube/client.h"
#include "operator/kube/event_recorder.h"
#include "operator/kube/informer.h"
#include "operator/reconcile/action.h"
#include "operator/reconcile/snapshot.h"

namespace dynatrain::control {

// Where effects go to. The answers to writes go into the informers' caches, so
// that the next snapshot isn't older than they are.
struct ActorTargets {
  KubeClient* client = nullptr;
  Informer* jobs = nullptr;
  Informer* pods = nullptr;
  EventRecorder* events = nullptr;
  const FailPoints* fail_points = nullptr;
};

// What came of a round.
struct RoundResult {
  // The first thing that failed; what came after it was not done. kAborted: the
  // job has changed meanwhile and has been read again.
  absl::Status status;
  // The soonest that was asked for.
  absl::Duration requeue_after = absl::InfiniteDuration();
};

// `job` is the object that `snapshot` was made of; null if it is gone.
RoundResult Act(const ActorTargets& targets, const SharedJson& job,
                const Snapshot& snapshot, const std::vector<Action>& actions,
                JobRuntime& runtime);

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_ACTOR_H_
