#include "agent/client/member_report.h"

#include <algorithm>

namespace dynatrain::agent {

transition::MemberReport ReportOf(const Observation& observation) {
  const TransitionObservation& running = observation.transition;
  transition::MemberReport report{
      .serial = observation.serial,
      .reach = transition::MemberReport::Reach::kAnswering,
      .term = observation.term,
      .generation = running.generation,
      .phase = running.phase,
      .armed_step = running.armed_step,
      .failure = running.failure};
  for (const RankObservation& rank : observation.ranks) {
    report.seen_step = std::max(report.seen_step, rank.step);
  }
  for (const RankTransition& rank : running.ranks) {
    report.sent_hash += rank.sent_hash;
    report.received_hash += rank.received_hash;
    if (rank.plan_digest.empty() || report.plan_digest == rank.plan_digest) {
      continue;
    }
    report.plan_digest =
        report.plan_digest.empty() ? rank.plan_digest : "mixed";
  }
  return report;
}

}  // namespace dynatrain::agent
