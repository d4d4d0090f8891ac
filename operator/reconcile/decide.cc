#include "operator/reconcile/decide.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "operator/reconcile/condition.h"
#include "operator/reconcile/drive.h"
#include "operator/reconcile/endings.h"
#include "operator/reconcile/events.h"
#include "operator/reconcile/goal.h"
#include "operator/reconcile/manage_pods.h"
#include "operator/reconcile/pod.h"
#include "operator/reconcile/report.h"
#include "operator/reconcile/round.h"

namespace dynatrain::control {
namespace {

// The status write first, what rests on it after, then events.
std::vector<Action> Finish(Round& round) {
  std::vector<Action> all;
  if (WorthWriting(round)) {
    all.push_back(WriteStatus{round.next, /*takes_term=*/false});
    for (RecordEvent& event : EventsOf(round.seen.job.status, round.next)) {
      round.Do(std::move(event));
    }
  }
  std::move(round.actions.begin(), round.actions.end(),
            std::back_inserter(all));
  if (round.requeue < absl::InfiniteDuration()) {
    all.push_back(RequeueAfter{round.requeue, round.requeue_why});
  }
  return all;
}

// Before its first message an operator makes its term durable, so that agents
// that have heard of it obey no older one.
std::vector<Action> TakeTerm(const Snapshot& snapshot) {
  api::JobStatus next = snapshot.job.status;
  ++next.operator_term;
  if (next.phase.empty()) next.phase = "Pending";
  if (next.agent_image.empty()) next.agent_image = snapshot.agent_image;
  next.selector = PodSelector(snapshot.job.metadata);
  return {WriteStatus{std::move(next), /*takes_term=*/true}};
}

bool Deposed(const Round& round) {
  if (round.seen.job.status.operator_term > round.seen.term) return true;
  const auto& agents = round.seen.agents;
  return std::any_of(agents.begin(), agents.end(), [&](const auto& agent) {
    return agent.second.observation.term > round.seen.term;
  });
}

bool AllEnded(const Round& round) {
  const auto& pods = round.seen.pods;
  return std::all_of(pods.begin(), pods.end(),
                     [](const PodView& pod) { return pod.ended(); });
}

void GreetAgents(Round& round) {
  std::vector<uint32_t> serials;
  for (const RosterEntry& entry : round.roster.entries()) {
    if (entry.answering && entry.agent->term < round.seen.term) {
      serials.push_back(entry.serial);
    }
  }
  if (serials.empty()) return;
  round.Do(SendGreet{round.fence(round.next.generation),
                     round.roster.Targets(serials)});
}

// No transition runs: what comes next? True if the job is to rest.
bool Advance(Round& round) {
  if (NoteSuspension(round)) return true;
  if (NoteCompletion(round)) return true;
  if (NoteLostState(round)) return true;
  if (round.finishing()) return false;
  if (const auto goal = PickGoal(round)) {
    if (PlanTransition(round, *goal)) DriveTransition(round);
  } else if (round.next.replicas == round.next.target_replicas) {
    round.next.retry.reset();  // what runs is what is wished for
  }
  return false;
}

void Live(Round& round) {
  if (!IsPausing(round) && NoteNamespaceEnding(round)) return;
  ReportWish(round);
  const Driven driven = DriveTransition(round);
  const bool moved = round.next.transition != round.seen.job.status.transition;
  bool rests = false;
  // One durable step at a time.
  if (driven == Driven::kFree && !moved) rests = Advance(round);
  if (!IsPausing(round)) {
    if (!rests && !round.spec.suspend) ManagePods(round);
    DeleteStalePods(round);
  }
  if (!rests) ReportState(round);
}

// The spec can't be read: what runs goes on, nothing new is begun.
void LiveWithoutSpec(Round& round) {
  const std::string message(round.seen.job.spec.status().message());
  SetCondition(round, "Accepted", false, "InvalidSpec", message);
  round.next.observed_generation = round.job().generation;
  round.next.reason = message;
  DriveTransition(round);
}

}  // namespace

std::vector<Action> Decide(const Snapshot& snapshot) {
  static const auto* const kNoSpec = new api::JobSpec();
  const bool valid = snapshot.job.spec.ok();
  Round round(snapshot, valid ? *snapshot.job.spec : *kNoSpec);
  if (snapshot.job_gone || snapshot.job.metadata.deletion_time) {
    DismissPods(round, "the job is deleted");
    return std::move(round.actions);
  }
  if (IsOver(round.next) && AllEnded(round)) return {};
  if (snapshot.term == 0) return TakeTerm(snapshot);
  if (Deposed(round)) return {StandDown{snapshot.job.status.operator_term}};
  if (IsOver(round.next)) {
    DismissPods(round, absl::StrCat("the job is ", round.next.phase));
    return std::move(round.actions);
  }
  GreetAgents(round);
  if (valid) {
    Live(round);
  } else {
    LiveWithoutSpec(round);
  }
  return Finish(round);
}

}  // namespace dynatrain::control
