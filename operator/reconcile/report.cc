#include "operator/reconcile/report.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "operator/reconcile/condition.h"
#include "operator/reconcile/history.h"
#include "operator/reconcile/model_check.h"
#include "operator/reconcile/pod.h"
#include "operator/solver/sizes.h"

namespace dynatrain::control {
namespace {

constexpr absl::Duration kProgressInterval = absl::Seconds(30);

// The first thing that keeps the job from having all its pods in training.
struct Trouble {
  std::string reason;  // CamelCase; "" if there is none
  std::string message;
};

Trouble FindSilentMember(const Round& round) {
  for (const uint32_t serial : round.members()) {
    const RosterEntry entry = round.roster.At(serial);
    if (entry.gone || entry.answering || entry.agent == nullptr) continue;
    return {"AgentSilent",
            absl::StrCat("the agent of ", round.roster.NameOf(serial),
                         " does not answer")};
  }
  return {};
}

Trouble FindPodThatWaits(const Round& round) {
  for (const RosterEntry& entry : round.roster.entries()) {
    const PodView& pod = *entry.pod;
    if (!entry.live() || entry.ready) continue;
    if (!pod.unschedulable.empty()) {
      return {
          "Unschedulable",
          absl::StrCat(pod.name, " can't be scheduled: ", pod.unschedulable)};
    }
    if (!pod.started && !pod.message.empty()) {
      return {"PodNotStarting", absl::StrCat(pod.name, ": ", pod.message)};
    }
  }
  return {};
}

Trouble FindTrouble(const Round& round) {
  if (!round.shortage.empty()) return {round.shortage_reason, round.shortage};
  if (round.seen.create_error) {
    return {"PodCreateFailed", absl::StrCat("a pod can't be created: ",
                                            round.seen.create_error->message)};
  }
  if (Trouble t = FindSilentMember(round); !t.reason.empty()) return t;
  if (Trouble t = FindPodThatWaits(round); !t.reason.empty()) return t;
  const int members = static_cast<int>(round.members().size());
  if (round.next.pod_failures && members < round.next.target_replicas) {
    const api::PodFailures& failures = *round.next.pod_failures;
    return {"PodFailed",
            failures.count == 1
                ? failures.message
                : absl::StrCat(failures.message, " (", failures.count,
                               " pods in a row; each is replaced later than "
                               "the one before)")};
  }
  if (members > 0 && members < round.spec.elastic.min_replicas) {
    return {"BelowMinimum",
            absl::StrCat(members, " pods train, fewer than minReplicas ",
                         round.spec.elastic.min_replicas)};
  }
  return {};
}

void ReportDegraded(Round& round) {
  const Trouble trouble = FindTrouble(round);
  if (trouble.reason.empty()) {
    SetCondition(round, "Degraded", false, "AsWished", "");
    return;
  }
  SetCondition(round, "Degraded", true, trouble.reason,
               round.next.members.empty()
                   ? trouble.message
                   : absl::StrCat(trouble.message, "; training goes on with ",
                                  round.next.replicas,
                                  round.next.replicas == 1 ? " pod" : " pods"));
}

void ReportReady(Round& round) {
  int ready = 0;
  for (const RosterEntry& entry : round.roster.entries()) {
    if (entry.ready && entry.live()) ++ready;
  }
  round.next.ready = absl::StrCat(ready, "/", round.next.target_replicas);
}

void ReportProgress(Round& round) {
  const agent::RankObservation* furthest = nullptr;
  for (const uint32_t serial : round.members()) {
    const RosterEntry entry = round.roster.At(serial);
    if (entry.agent == nullptr) continue;
    for (const agent::RankObservation& rank : entry.agent->ranks) {
      if (furthest == nullptr || rank.step > furthest->step) furthest = &rank;
    }
  }
  if (furthest == nullptr || furthest->step <= round.next.step) return;
  round.next.step = furthest->step;
  round.next.loss = absl::StrFormat("%.4f", furthest->loss);
  round.next.progress_time = round.now();
}

void ReportResizing(Round& round) {
  const auto& transition = round.next.transition;
  if (transition && transition->running()) {
    SetCondition(
        round, "Resizing", true, transition->phase,
        absl::StrCat(TransitionTitle(*transition), ": ", transition->message));
    return;
  }
  std::string reason = transition ? transition->phase : "Idle";
  if (reason == "Released") reason = "Done";
  SetCondition(
      round, "Resizing", false, reason,
      round.next.history.empty() ? "" : round.next.history.back().summary);
}

void ReportRunning(Round& round) {
  if (round.next.members.empty()) {
    SetCondition(round, "Running", false, "NotStarted",
                 "training has not started yet");
    return;
  }
  SetCondition(round, "Running", true, "Training",
               absl::StrCat("generation ", round.next.generation, " as ",
                            round.next.layout.text, " on ",
                            round.roster.NamesOf(round.members())));
}

std::string Phase(const Round& round) {
  const auto& transition = round.next.transition;
  const bool moving = transition && transition->running();
  if (round.next.members.empty()) return moving ? "Starting" : "Pending";
  return moving ? "Resizing" : "Running";
}

// What is worth knowing just now, the most pressing first.
std::string Reason(const Round& round) {
  for (const char* type : {"Accepted", "LayoutFeasible", "ModelAsTold"}) {
    const api::Condition* condition = FindCondition(round.next, type);
    if (condition != nullptr && !condition->status) return condition->message;
  }
  const auto& transition = round.next.transition;
  const bool moving = transition && transition->running();
  if (const auto& retry = round.next.retry; retry && !moving) {
    return absl::StrCat(
        "the change to ", retry->target, " failed: ", retry->reason,
        "; if it is still wished it is tried again after ",
        absl::FormatTime("%H:%M:%S UTC", retry->after, absl::UTCTimeZone()));
  }
  const api::Condition* degraded = FindCondition(round.next, "Degraded");
  if (degraded != nullptr && degraded->status) return degraded->message;
  return "";
}

}  // namespace

void ReportWish(Round& round) {
  api::JobStatus& next = round.next;
  next.selector = PodSelector(round.job());
  SetCondition(round, "Accepted", true, "Valid", "");
  if (next.observed_generation != round.job().generation ||
      next.feasible_replicas.empty()) {
    next.feasible_replicas = FeasibleReplicas(round.spec);
    next.observed_generation = round.job().generation;
  }
  const SizeWish wish = ResolveReplicas(round.spec, next.target_replicas);
  next.target_replicas = wish.replicas;
  SetCondition(round, "LayoutFeasible", wish.granted,
               wish.granted ? "Feasible" : "NoLayout", wish.reason);
}

void ReportState(Round& round) {
  ReportReady(round);
  ReportProgress(round);
  ReportResizing(round);
  ReportRunning(round);
  ReportDegraded(round);
  CheckModel(round);
  round.next.phase = Phase(round);
  round.next.reason = Reason(round);
}

bool IsPausing(const Round& round) {
  const auto& transition = round.next.transition;
  return transition &&
         (transition->phase == "Draining" || transition->phase == "Committed");
}

bool WorthWriting(const Round& round) {
  const api::JobStatus& stored = round.seen.job.status;
  if (stored == round.next) return false;
  const auto& transition = round.next.transition;
  const bool paused = transition && (transition->phase == "Draining" ||
                                     transition->phase == "Committed");
  if (paused && stored.transition == transition) return false;
  api::JobStatus without_progress = round.next;
  without_progress.step = stored.step;
  without_progress.loss = stored.loss;
  without_progress.progress_time = stored.progress_time;
  // The last steps too: soon nobody can be asked any more.
  return !(without_progress == stored) || round.finishing() ||
         round.now() - stored.progress_time >= kProgressInterval;
}

}  // namespace dynatrain::control
