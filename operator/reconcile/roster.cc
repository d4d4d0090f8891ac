#include "operator/reconcile/roster.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dynatrain::control {
namespace {

// A pod whose condition DisruptionTarget has brought no deletion for so long is
// not going: the condition was left over.
constexpr absl::Duration kStaleDisruption = absl::Seconds(60);
// So long after SIGKILL was due, a silent pod is taken for dead: its node is.
constexpr absl::Duration kOverdue = absl::Seconds(30);

bool AllRanksReady(const agent::Observation& agent, int ranks_per_replica) {
  if (static_cast<int>(agent.ranks.size()) != ranks_per_replica) return false;
  return std::all_of(agent.ranks.begin(), agent.ranks.end(),
                     [](const agent::RankObservation& rank) {
                       return rank.process_id != 0 &&
                              (rank.state == agent::RankState::kReady ||
                               rank.state == agent::RankState::kTraining ||
                               rank.state == agent::RankState::kStopped);
                     });
}

bool AnyRankFinished(const agent::Observation& agent) {
  return std::any_of(
      agent.ranks.begin(), agent.ranks.end(),
      [](const agent::RankObservation& rank) {
        return rank.state == agent::RankState::kFinished ||
               (rank.state == agent::RankState::kExited && rank.exit_code == 0);
      });
}

void FindDoom(const Snapshot& snapshot, absl::Time received,
              RosterEntry& entry) {
  const PodView& pod = *entry.pod;
  if (pod.deletion_time) {
    entry.doomed = true;
    entry.deadline = *pod.deletion_time;
  }
  if (!pod.disruption.empty() &&
      snapshot.now - pod.disruption_time < kStaleDisruption) {
    entry.doomed = true;
  }
  if (entry.agent != nullptr && entry.agent->leaving) {
    entry.doomed = true;
    if (const auto left = entry.agent->leave_deadline) {
      entry.deadline =
          std::min(entry.deadline, received + absl::FromChrono(*left));
    }
  }
}

}  // namespace

Roster::Roster(const Snapshot& snapshot, int ranks_per_replica)
    : job_name_(snapshot.job.metadata.name), agent_port_(snapshot.agent_port) {
  for (const PodView& pod : snapshot.pods) {
    RosterEntry entry = MakeEntry(snapshot, pod, ranks_per_replica);
    const bool stale = pod.serial < snapshot.job.status.first_serial;
    (stale ? stale_ : entries_).push_back(entry);
  }
  for (auto* list : {&entries_, &stale_}) {
    std::sort(list->begin(), list->end(),
              [](const auto& a, const auto& b) { return a.serial < b.serial; });
  }
}

RosterEntry Roster::MakeEntry(const Snapshot& snapshot, const PodView& pod,
                              int ranks_per_replica) const {
  RosterEntry entry;
  entry.serial = pod.serial;
  entry.pod = &pod;
  absl::Time received = absl::InfinitePast();
  const auto seen = snapshot.agents.find(pod.serial);
  if (seen != snapshot.agents.end()) {
    entry.agent = &seen->second.observation;
    received = seen->second.received;
  }
  entry.answering = !pod.ended() && snapshot.now - received <= kSilentAfter;
  const bool overdue = pod.deletion_time && !entry.answering &&
                       snapshot.now > *pod.deletion_time + kOverdue;
  entry.gone = pod.ended() || overdue;
  if (!entry.gone) FindDoom(snapshot, received, entry);
  entry.ready =
      entry.answering && AllRanksReady(*entry.agent, ranks_per_replica);
  entry.finished =
      pod.exit_code == 0 || pod.phase == PodPhase::kSucceeded ||
      (entry.agent != nullptr && !entry.gone && AnyRankFinished(*entry.agent));
  return entry;
}

RosterEntry Roster::At(uint32_t serial) const {
  for (const RosterEntry& entry : entries_) {
    if (entry.serial == serial) return entry;
  }
  RosterEntry absent;
  absent.serial = serial;
  absent.gone = true;
  return absent;
}

std::string Roster::NameOf(uint32_t serial) const {
  return absl::StrCat(job_name_, "-", serial);
}

std::string Roster::WithNames(absl::string_view text) const {
  constexpr absl::string_view kSerial = "serial ";
  std::string named;
  for (size_t at; (at = text.find(kSerial)) != absl::string_view::npos;) {
    size_t end = at + kSerial.size();
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    uint32_t serial = 0;
    const absl::string_view digits =
        text.substr(at + kSerial.size(), end - at - kSerial.size());
    if (absl::SimpleAtoi(digits, &serial)) {
      absl::StrAppend(&named, text.substr(0, at), NameOf(serial));
    } else {
      absl::StrAppend(&named, text.substr(0, end));
    }
    text.remove_prefix(end);
  }
  return absl::StrCat(named, text);
}

std::string Roster::NamesOf(const std::vector<uint32_t>& serials) const {
  return absl::StrJoin(serials, ", ", [&](std::string* out, uint32_t serial) {
    absl::StrAppend(out, NameOf(serial));
  });
}

std::vector<AgentTarget> Roster::Targets(
    const std::vector<uint32_t>& serials) const {
  std::vector<AgentTarget> targets;
  for (const auto* list : {&entries_, &stale_}) {
    for (const RosterEntry& entry : *list) {
      const bool asked = std::find(serials.begin(), serials.end(),
                                   entry.serial) != serials.end();
      if (!asked || entry.pod->ip.empty()) continue;
      const std::string& ip = entry.pod->ip;
      const bool v6 = absl::StrContains(ip, ':');
      targets.push_back(
          {entry.serial, v6 ? absl::StrCat("[", ip, "]:", agent_port_)
                            : absl::StrCat(ip, ":", agent_port_)});
    }
  }
  return targets;
}

}  // namespace dynatrain::control
