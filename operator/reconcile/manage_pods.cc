#include "operator/reconcile/manage_pods.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "operator/reconcile/pod.h"
#include "operator/reconcile/transition_view.h"

namespace dynatrain::control {
namespace {

constexpr absl::Duration kCreateRetry = absl::Seconds(10);
constexpr absl::Duration kFirstReplacement = absl::Seconds(2);
constexpr absl::Duration kLongestReplacement = absl::Seconds(120);
// A dismissed agent ends its ranks at once; it needs no long grace.
constexpr absl::Duration kDismissGrace = absl::Seconds(10);
// docs/design/0001: left as told, dismissed.
constexpr int kExitLeft = 86;
constexpr int kExitDismissed = 87;

// Pods that only a transition may end.
std::vector<uint32_t> Protected(const Round& round) {
  std::vector<uint32_t> serials = round.members();
  if (round.next.transition && round.next.transition->running()) {
    const std::vector<uint32_t> more = Participants(round);
    serials.insert(serials.end(), more.begin(), more.end());
  }
  return serials;
}

bool Contains(const std::vector<uint32_t>& serials, uint32_t serial) {
  return std::find(serials.begin(), serials.end(), serial) != serials.end();
}

void Delete(Round& round, const RosterEntry& entry, absl::Duration grace,
            std::string reason) {
  if (entry.pod->deletion_time) return;
  round.Do(
      DeletePod{entry.pod->name, entry.pod->uid, grace, std::move(reason)});
}

void Dismiss(Round& round, const std::vector<RosterEntry>& entries,
             absl::string_view reason) {
  std::vector<uint32_t> serials;
  for (const RosterEntry& entry : entries) {
    if (!entry.gone && entry.agent != nullptr) serials.push_back(entry.serial);
  }
  const auto targets = round.roster.Targets(serials);
  if (targets.empty()) return;
  round.Do(SendDismiss{round.fence(round.next.generation), targets,
                       std::string(reason)});
}

bool EndedByItself(const RosterEntry& entry) {
  const PodView& pod = *entry.pod;
  return pod.ended() && !pod.deletion_time && pod.disruption.empty() &&
         pod.exit_code != kExitLeft && pod.exit_code != kExitDismissed;
}

std::string HowItEnded(const PodView& pod) {
  return absl::StrCat(
      pod.name, " ended before it trained",
      pod.exit_code ? absl::StrCat(", with exit code ", *pod.exit_code) : "",
      pod.message.empty() ? "" : ": ", pod.message,
      pod.exit_code ? absl::StrCat("; `kubectl logs ", pod.name, "` tells more")
                    : "");
}

void NoteFailure(Round& round, const RosterEntry& entry) {
  api::PodFailures failures =
      round.next.pod_failures.value_or(api::PodFailures{});
  if (failures.count > 0 && entry.serial <= failures.serial) return;
  ++failures.count;
  failures.serial = entry.serial;
  failures.last = round.now();
  failures.message = HowItEnded(*entry.pod);
  round.next.pod_failures = failures;
}

// Pods that ended and belong to no world. `whole`: the job has all its pods, so
// nobody needs to look at the logs of the last that failed.
void RemoveEnded(Round& round, const std::vector<uint32_t>& keep, bool whole) {
  std::vector<RosterEntry> ended;
  for (const RosterEntry& entry : round.roster.entries()) {
    if (entry.pod->ended() && !Contains(keep, entry.serial)) {
      ended.push_back(entry);
    }
  }
  for (const RosterEntry& entry : ended) {
    if (EndedByItself(entry)) NoteFailure(round, entry);
  }
  for (const RosterEntry& entry : ended) {
    const bool newest_failure = round.next.pod_failures &&
                                round.next.pod_failures->serial == entry.serial;
    if (whole || !newest_failure) {
      Delete(round, entry, kDismissGrace, "it has ended");
    }
  }
  if (whole && ended.empty()) round.next.pod_failures.reset();
}

// Pods that are about to go and have nothing to hand over.
void ReleaseDoomed(Round& round, const std::vector<uint32_t>& keep) {
  std::vector<RosterEntry> leaving;
  for (const RosterEntry& entry : round.roster.entries()) {
    if (entry.doomed && !Contains(keep, entry.serial)) leaving.push_back(entry);
  }
  Dismiss(round, leaving, "the pod is to go and holds no state");
}

void DeleteSurplus(Round& round, const std::vector<uint32_t>& keep,
                   int surplus) {
  std::vector<RosterEntry> victims;
  for (const RosterEntry& entry : round.roster.entries()) {
    if (entry.live() && !Contains(keep, entry.serial)) victims.push_back(entry);
  }
  std::sort(victims.begin(), victims.end(), [](const auto& a, const auto& b) {
    const auto worth = [](const RosterEntry& entry) {
      return std::make_tuple(!entry.pod->node.empty(), entry.ready,
                             -static_cast<int64_t>(entry.serial));
    };
    return worth(a) < worth(b);
  });
  victims.resize(std::min<size_t>(victims.size(), surplus));
  Dismiss(round, victims, "fewer pods are wanted");
  for (const RosterEntry& entry : victims) {
    Delete(round, entry, kDismissGrace, "fewer pods are wanted");
  }
}

// When a pod may be created; the past if now.
absl::Time CreationTime(const Round& round) {
  absl::Time time = absl::InfinitePast();
  if (round.seen.create_error) {
    time = round.seen.create_error->time + kCreateRetry;
  }
  if (const auto& failures = round.next.pod_failures) {
    absl::Duration delay = kFirstReplacement;
    for (int i = 1; i < failures->count && delay < kLongestReplacement; ++i) {
      delay *= 2;
    }
    time =
        std::max(time, failures->last + std::min(delay, kLongestReplacement));
  }
  return time;
}

void Create(Round& round, int count) {
  const absl::Time time = CreationTime(round);
  if (round.now() < time) {
    round.LookAgainAt(time, "creating pods is tried again");
    return;
  }
  for (int i = 0; i < count; ++i) {
    const auto serial = static_cast<uint32_t>(round.next.next_serial++);
    const PodOptions options{round.next.agent_image, round.seen.agent_port};
    round.Do(CreatePod{serial, PodName(round.job(), serial),
                       MakePod(round.job(), round.spec, serial, options)});
  }
}

}  // namespace

void ManagePods(Round& round) {
  const std::vector<uint32_t> keep = Protected(round);
  int live = 0;
  for (const RosterEntry& entry : round.roster.entries()) {
    if (entry.live()) ++live;
  }
  const int wanted = round.next.target_replicas;
  RemoveEnded(
      round, keep,
      live == wanted && round.next.replicas == round.next.target_replicas);
  ReleaseDoomed(round, keep);
  if (live > wanted) DeleteSurplus(round, keep, live - wanted);
  if (live < wanted) Create(round, wanted - live);
}

void DismissPods(Round& round, absl::string_view reason) {
  for (const auto* entries : {&round.roster.entries(), &round.roster.stale()}) {
    Dismiss(round, *entries, reason);
    for (const RosterEntry& entry : *entries) {
      // An agent that is not heard of can't be dismissed.
      if (!entry.gone && entry.agent == nullptr) {
        Delete(round, entry, kDismissGrace, std::string(reason));
      }
    }
  }
}

void DeleteStalePods(Round& round) {
  Dismiss(round, round.roster.stale(), "the job starts again");
  for (const RosterEntry& entry : round.roster.stale()) {
    Delete(round, entry, kDismissGrace, "it is of an earlier start");
  }
}

}  // namespace dynatrain::control
