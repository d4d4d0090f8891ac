#include "operator/reconcile/goal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "operator/reconcile/rank_order.h"
#include "operator/solver/choose.h"
#include "operator/solver/layouts.h"
#include "operator/solver/sizes.h"

namespace dynatrain::control {
namespace {

// What a shrink takes at most, so late a drain no longer waits for a pod that
// would keep the job at minReplicas.
constexpr absl::Duration kLastCall = absl::Seconds(30);
constexpr absl::Duration kFirstRetry = absl::Seconds(5);
constexpr absl::Duration kLongestRetry = absl::Seconds(300);

struct Candidates {
  std::vector<uint32_t> staying;  // members that are not doomed, in rank order
  std::vector<uint32_t> joiners;  // ready, by serial
  bool draining = false;          // a member is doomed
  absl::Time deadline = absl::InfiniteFuture();     // earliest of those
  absl::Time first_ready = absl::InfiniteFuture();  // start of a joiner
  int starting = 0;  // pods that may become joiners
};

bool Contains(const std::vector<uint32_t>& serials, uint32_t serial) {
  return std::find(serials.begin(), serials.end(), serial) != serials.end();
}

Candidates FindCandidates(const Round& round) {
  const std::vector<uint32_t> members = round.members();
  Candidates found;
  for (const uint32_t serial : members) {
    const RosterEntry entry = round.roster.At(serial);
    if (!entry.doomed) {
      found.staying.push_back(serial);
      continue;
    }
    found.draining = true;
    found.deadline = std::min(found.deadline, entry.deadline);
  }
  for (const RosterEntry& entry : round.roster.entries()) {
    if (Contains(members, entry.serial) || !entry.live()) continue;
    // One that has trained before is on its way out.
    if (entry.ready && entry.agent->committed_generation != 0) continue;
    if (!entry.ready) {
      ++found.starting;
      continue;
    }
    found.joiners.push_back(entry.serial);
    found.first_ready =
        std::min(found.first_ready, entry.pod->started.value_or(round.now()));
  }
  return found;
}

// Leaves `size` of them: the highest serials go.
void DropHighest(std::vector<uint32_t>& serials, int size) {
  while (static_cast<int>(serials.size()) > size) {
    serials.erase(std::max_element(serials.begin(), serials.end()));
  }
}

// False if pods that are ready should wait for others.
bool MayJoin(Round& round, const Candidates& found, int size) {
  if (found.draining || found.joiners.empty() || found.starting == 0 ||
      size >= round.next.target_replicas) {
    return true;
  }
  const absl::Time until =
      found.first_ready + round.spec.elastic.scale_up_delay;
  if (round.now() >= until) return true;
  round.LookAgainAt(until, "pods that are ready wait for the others");
  return false;
}

// How many of `limit` pods train: 0 if no number will do.
int PickSize(Round& round, const Candidates& found, int limit) {
  const int size =
      LargestFeasible(round.spec, round.spec.elastic.min_replicas, limit);
  if (size != 0 || !found.draining) return size;
  if (round.now() >= found.deadline - kLastCall) {
    return LargestFeasible(round.spec, 1, limit);
  }
  round.LookAgainAt(found.deadline - kLastCall, "a drain waits for a pod");
  round.shortage_reason = "NoSurvivors";
  round.shortage = absl::StrCat("pods are leaving and ", limit,
                                " would be left, too few to train on; "
                                "waiting for their replacements");
  return 0;
}

std::string Cause(const Round& round, const Candidates& found,
                  const std::vector<uint32_t>& members) {
  const int before = static_cast<int>(round.members().size());
  const int after = static_cast<int>(members.size());
  if (before == 0) return round.next.restarts > 0 ? "restart" : "start";
  if (found.draining) return "drain";
  if (after > before) return "scale-up";
  if (after < before) return "scale-down";
  return members == round.members() ? "layout" : "replace";
}

// Of members in any order.
std::string RetryKey(std::vector<uint32_t> members, absl::string_view layout) {
  std::sort(members.begin(), members.end());
  return absl::StrCat(layout, " (pods ", api::FormatSerials(members), ")");
}

absl::Duration RetryDelay(int attempts) {
  absl::Duration delay = kFirstRetry;
  for (int i = 1; i < attempts && delay < kLongestRetry; ++i) delay *= 2;
  return std::min(delay, kLongestRetry);
}

// True if this goal has failed and should rest.
bool Resting(Round& round, const Goal& goal) {
  const std::optional<api::RetryStatus>& retry = round.next.retry;
  if (!retry ||
      retry->target != RetryKey(goal.members, goal.layout.ToString())) {
    return false;
  }
  // State that must leave is tried for as long as there is time.
  absl::Time after = retry->after;
  if (goal.cause == "drain" && round.next.transition) {
    after = std::min(after, round.next.transition->phase_time + kFirstRetry);
  }
  if (round.now() >= after) return false;
  round.LookAgainAt(after, "a transition that failed is tried again");
  return true;
}

int64_t NextGeneration(const api::JobStatus& status) {
  int64_t highest = status.generation;
  if (status.transition) {
    highest = std::max(highest, status.transition->generation);
  }
  for (const api::HistoryEntry& entry : status.history) {
    highest = std::max(highest, entry.generation);
  }
  return highest + 1;
}

}  // namespace

std::optional<Goal> PickGoal(Round& round) {
  const int wanted = round.next.target_replicas;
  const Candidates found = FindCandidates(round);
  // A wish that no layout exists for changes nothing that runs.
  if (!found.draining && !IsFeasible(round.spec, wanted)) return std::nullopt;
  Goal goal;
  goal.members = found.staying;
  DropHighest(goal.members, wanted);
  for (const uint32_t serial : found.joiners) {
    if (static_cast<int>(goal.members.size()) < wanted) {
      goal.members.push_back(serial);
    }
  }
  const int limit = static_cast<int>(goal.members.size());
  if (!MayJoin(round, found, limit)) return std::nullopt;
  const int size = PickSize(round, found, limit);
  if (size == 0) return std::nullopt;
  DropHighest(goal.members, size);
  const std::optional<vps::AxisSizes> running = round.layout();
  const auto choice = ChooseLayout(size * round.spec.ranks_per_replica,
                                   round.spec.parallelism, running);
  if (!choice.ok()) return std::nullopt;
  goal.layout = choice->layout;
  goal.reason = choice->reason;
  if (goal.members == round.members() && running == goal.layout) {
    return std::nullopt;
  }
  goal.cause = Cause(round, found, goal.members);
  return goal;
}

std::string WhyNotWanted(const Round& round) {
  const api::TransitionStatus& running = *round.next.transition;
  const std::vector<uint32_t> target = SerialsOf(running.to_members);
  for (const uint32_t serial : target) {
    const RosterEntry entry = round.roster.At(serial);
    if (entry.doomed) {
      return absl::StrCat(round.roster.NameOf(serial), " is about to go");
    }
  }
  const int size = static_cast<int>(target.size());
  const int wanted = round.next.target_replicas;
  if (size > wanted) return absl::StrCat(wanted, " pods are wanted now");
  const auto layout = vps::AxisSizes::Parse(running.to);
  if (IsFeasible(round.spec, wanted) &&
      !Permits(round.spec.parallelism, *layout)) {
    return absl::StrCat(running.to, " is not permitted any more");
  }
  // Members on their way out that are wanted again.
  int possible = size;
  for (const uint32_t serial : round.members()) {
    const bool stays = Contains(target, serial);
    if (!stays && round.roster.At(serial).live()) ++possible;
  }
  if (LargestFeasible(round.spec, round.spec.elastic.min_replicas,
                      std::min(possible, wanted)) > size) {
    return absl::StrCat(wanted, " pods are wanted now");
  }
  return "";
}

bool PlanTransition(Round& round, const Goal& goal) {
  if (Resting(round, goal)) return false;
  api::TransitionStatus planned;
  planned.generation = NextGeneration(round.next);
  planned.id = absl::StrCat(round.job().uid, "-", planned.generation);
  planned.cause = goal.cause;
  planned.from = round.next.members.empty() ? "" : round.next.layout.text;
  planned.to = goal.layout.ToString();
  planned.reason = goal.reason;
  planned.from_members = round.next.members;
  planned.to_members = api::FormatSerials(OrderThatKeepsMost(
      round.seen.manifest, {round.members(), planned.from},
      {goal.members, planned.to}, round.spec.ranks_per_replica));
  planned.phase = "Planned";
  planned.start_time = round.now();
  planned.phase_time = round.now();
  planned.message =
      absl::StrCat("preparing on ", round.roster.NamesOf(goal.members),
                   planned.from.empty() ? "" : " while training goes on");
  round.next.transition = std::move(planned);
  return true;
}

void NoteFailure(Round& round) {
  const api::TransitionStatus& failed = *round.next.transition;
  const std::string key = RetryKey(SerialsOf(failed.to_members), failed.to);
  api::RetryStatus retry;
  retry.target = key;
  retry.attempts = round.next.retry && round.next.retry->target == key
                       ? round.next.retry->attempts + 1
                       : 1;
  retry.after = round.now() + RetryDelay(retry.attempts);
  retry.reason = failed.message;
  round.next.retry = std::move(retry);
}

}  // namespace dynatrain::control
