#include "operator/reconcile/transition_view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dynatrain::control {
namespace {

using transition::MemberReport;
using transition::RecordPhase;

bool Contains(const std::vector<uint32_t>& serials, uint32_t serial) {
  return std::find(serials.begin(), serials.end(), serial) != serials.end();
}

void AddRanks(const AgentTransition& seen, MemberReport& report) {
  for (const RankTransition& rank : seen.ranks) {
    // Ranks of one pod that disagree must not look agreed with anybody.
    if (report.plan_digest.empty()) {
      report.plan_digest = rank.plan_digest;
    } else if (!rank.plan_digest.empty() &&
               rank.plan_digest != report.plan_digest) {
      absl::StrAppend(&report.plan_digest, "/", rank.plan_digest);
    }
    report.sent_hash += rank.sent_hash;
    report.received_hash += rank.received_hash;
    if (!report.failure.empty() || rank.failure.empty()) continue;
    report.failure = absl::StrCat("rank ", rank.local_rank, ": ", rank.failure);
  }
}

MemberReport MakeReport(const RosterEntry& entry) {
  MemberReport report;
  report.serial = entry.serial;
  if (entry.gone) {
    report.reach = MemberReport::Reach::kGone;
    return report;
  }
  if (!entry.answering) return report;
  report.reach = MemberReport::Reach::kAnswering;
  report.term = entry.agent->term;
  const AgentTransition& seen = entry.agent->transition;
  report.generation = static_cast<uint64_t>(seen.generation);
  report.phase = seen.phase;
  report.armed_step = static_cast<uint64_t>(seen.armed_step);
  for (const RankObservation& rank : entry.agent->ranks) {
    report.seen_step =
        std::max(report.seen_step, static_cast<uint64_t>(rank.step));
  }
  report.failure = seen.failure;
  AddRanks(seen, report);
  return report;
}

}  // namespace

std::vector<uint32_t> Participants(const Round& round) {
  const api::TransitionStatus& transition = *round.next.transition;
  std::vector<uint32_t> serials = SerialsOf(transition.from_members);
  for (const uint32_t serial : SerialsOf(transition.to_members)) {
    if (!Contains(serials, serial)) serials.push_back(serial);
  }
  return serials;
}

RecordPhase ToRecordPhase(absl::string_view text) {
  for (const RecordPhase phase :
       {RecordPhase::kPlanned, RecordPhase::kDraining, RecordPhase::kCommitted,
        RecordPhase::kReleased, RecordPhase::kAborted,
        RecordPhase::kSuperseded}) {
    if (text == transition::PhaseName(phase)) return phase;
  }
  return RecordPhase::kNone;
}

transition::TransitionView MakeView(const Round& round) {
  const api::TransitionStatus& running = *round.next.transition;
  const auto from = SerialsOf(running.from_members);
  const auto to = SerialsOf(running.to_members);
  transition::TransitionView view;
  view.term = round.seen.term;
  view.record = ToRecordPhase(running.phase);
  view.generation = static_cast<uint64_t>(running.generation);
  for (const uint32_t serial : Participants(round)) {
    view.members.push_back(
        {serial, Contains(from, serial), Contains(to, serial)});
    view.reports.push_back(MakeReport(round.roster.At(serial)));
  }
  return view;
}

const AgentTransition* TransitionOf(const Round& round, uint32_t serial,
                                    int64_t generation) {
  const RosterEntry entry = round.roster.At(serial);
  if (entry.agent == nullptr || entry.gone) return nullptr;
  const AgentTransition& seen = entry.agent->transition;
  return seen.generation == generation ? &seen : nullptr;
}

}  // namespace dynatrain::control
