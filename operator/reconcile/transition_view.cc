#include "operator/reconcile/transition_view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "agent/client/member_report.h"

namespace dynatrain::control {
namespace {

using transition::MemberReport;
using transition::RecordPhase;

bool Contains(const std::vector<uint32_t>& serials, uint32_t serial) {
  return std::find(serials.begin(), serials.end(), serial) != serials.end();
}

MemberReport MakeReport(const RosterEntry& entry) {
  if (!entry.gone && entry.answering) return agent::ReportOf(*entry.agent);
  MemberReport report;
  if (entry.gone) report.reach = MemberReport::Reach::kGone;
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
    view.reports.back().serial = serial;
  }
  return view;
}

const agent::TransitionObservation* TransitionOf(const Round& round,
                                                 uint32_t serial,
                                                 int64_t generation) {
  const RosterEntry entry = round.roster.At(serial);
  if (entry.agent == nullptr || entry.gone) return nullptr;
  const agent::TransitionObservation& seen = entry.agent->transition;
  return seen.generation == static_cast<uint64_t>(generation) ? &seen : nullptr;
}

}  // namespace dynatrain::control
