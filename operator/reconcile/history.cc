#include "operator/reconcile/history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "operator/reconcile/text.h"
#include "operator/reconcile/transition_view.h"

namespace dynatrain::control {
namespace {

struct Totals {
  int64_t moved_bytes = 0;
  int64_t minimal_bytes = 0;
  double pause_ms = 0;
  std::map<std::string, double> parts_ms;  // of the rank that paused longest
  double transfer_ms = 0;
  bool warm = true;
};

void Add(const agent::RankTransition& rank, Totals& totals) {
  totals.moved_bytes += rank.bytes_received;
  totals.minimal_bytes += rank.minimal_bytes;
  if (rank.mode == "cold") totals.warm = false;
  // A joiner has not paused: its transfer began with Go, before the others
  // reached the boundary.
  if (rank.pause_ms <= 0) return;
  const auto transfer = rank.pause_parts_ms.find("transfer");
  if (transfer != rank.pause_parts_ms.end()) {
    totals.transfer_ms = std::max(totals.transfer_ms, transfer->second);
  }
  if (rank.pause_ms > totals.pause_ms) {
    totals.pause_ms = rank.pause_ms;
    totals.parts_ms = rank.pause_parts_ms;
  }
}

Totals Count(const Round& round, const api::TransitionStatus& transition) {
  Totals totals;
  for (const uint32_t serial : SerialsOf(transition.to_members)) {
    const agent::TransitionObservation* seen =
        TransitionOf(round, serial, transition.generation);
    if (seen == nullptr) continue;
    for (const agent::RankTransition& rank : seen->ranks) Add(rank, totals);
  }
  return totals;
}

// What a pause is made of, in order of time, under the names that runtime and
// package report.
constexpr const char* kPauseParts[] = {"bind",    "allocate", "save",
                                       "wait_go", "transfer", "verify",
                                       "commit",  "restore"};

// " (wait_go 0.030, transfer 0.050, other 0.010)", in seconds; what is below a
// millisecond is left out.
std::string Parts(const Totals& totals) {
  std::vector<std::string> parts;
  double other_ms = totals.pause_ms;
  const auto tell = [&](const char* name, double ms) {
    if (ms >= 1) parts.push_back(absl::StrFormat("%s %.3f", name, ms / 1000));
  };
  for (const char* name : kPauseParts) {
    const auto part = totals.parts_ms.find(name);
    if (part == totals.parts_ms.end()) continue;
    tell(name, part->second);
    other_ms -= part->second;
  }
  tell("other", other_ms);
  return parts.empty() ? ""
                       : absl::StrCat(" (", absl::StrJoin(parts, ", "), ")");
}

std::string Outcome(const api::TransitionStatus& transition,
                    const Totals& totals) {
  if (transition.phase != "Released") {
    return absl::StrCat(
        transition.phase == "Aborted" ? "aborted" : "superseded", ": ",
        transition.message);
  }
  if (transition.from.empty()) return "started";
  return absl::StrCat("moved ", BytesText(totals.moved_bytes), " (minimal ",
                      BytesText(totals.minimal_bytes), "), paused ",
                      MillisecondsText(totals.pause_ms), Parts(totals),
                      totals.warm ? ", warm" : ", cold");
}

}  // namespace

std::string TransitionTitle(const api::TransitionStatus& transition) {
  return absl::StrCat(
      "g", transition.generation, " ", transition.cause, " ",
      transition.from.empty()
          ? transition.to
          : absl::StrCat(transition.from, " -> ", transition.to));
}

void AppendHistory(Round& round) {
  const api::TransitionStatus& transition = *round.next.transition;
  api::HistoryEntry entry;
  entry.generation = transition.generation;
  entry.cause = transition.cause;
  entry.outcome = transition.phase;
  entry.from = transition.from;
  entry.to = transition.to;
  entry.time = round.now();
  const Totals totals = Count(round, transition);
  if (transition.phase == "Released") {
    entry.moved_bytes = totals.moved_bytes;
    entry.minimal_bytes = totals.minimal_bytes;
    entry.transfer_ms = std::lround(totals.transfer_ms);
    entry.pause_ms = std::lround(totals.pause_ms);
  }
  entry.summary = absl::StrCat(TransitionTitle(transition), ": ",
                               Outcome(transition, totals));
  std::vector<api::HistoryEntry>& history = round.next.history;
  history.push_back(std::move(entry));
  if (history.size() > api::JobStatus::kMaxHistory) {
    history.erase(history.begin(), history.end() - api::JobStatus::kMaxHistory);
  }
}

}  // namespace dynatrain::control
