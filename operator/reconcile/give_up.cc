#include "operator/reconcile/give_up.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "operator/reconcile/goal.h"
#include "operator/reconcile/text.h"
#include "operator/reconcile/transition_view.h"

namespace dynatrain::control {
namespace {

using transition::Phase;

constexpr absl::Duration kTransferTime = absl::Seconds(30);

Phase PhaseOf(const Round& round, uint32_t serial) {
  const agent::TransitionObservation* seen =
      TransitionOf(round, serial, round.next.transition->generation);
  return seen == nullptr ? Phase::kNone : seen->phase;
}

// "gpt-1 (silent), gpt-2 (Preparing)": who has not come as far as `phase`.
std::string Behind(const Round& round, Phase phase) {
  std::vector<std::string> behind;
  for (const uint32_t serial : Participants(round)) {
    const Phase at = PhaseOf(round, serial);
    if (at >= phase) continue;
    behind.push_back(absl::StrCat(round.roster.NameOf(serial), " (",
                                  round.roster.At(serial).answering
                                      ? transition::PhaseName(at)
                                      : "silent",
                                  ")"));
  }
  return absl::StrJoin(behind, ", ");
}

bool AllPrepared(const Round& round) {
  const std::vector<uint32_t> all = Participants(round);
  return std::all_of(all.begin(), all.end(), [&](uint32_t serial) {
    return PhaseOf(round, serial) == Phase::kPrepared;
  });
}

// A safe transition holds both worlds. A rank that prepared cold takes the
// memory of the new one only during the transfer; a warm one has it already.
std::string MemoryRefusal(const Round& round) {
  for (const uint32_t serial : Participants(round)) {
    const RosterEntry entry = round.roster.At(serial);
    if (!entry.answering || entry.agent->memory_limit_bytes == 0) continue;
    uint64_t to_come = 0;
    for (const agent::RankTransition& rank : entry.agent->transition.ranks) {
      if (rank.mode == "cold") to_come += rank.new_bytes;
      to_come += rank.staging_bytes;
    }
    const uint64_t peak = entry.agent->memory_used_bytes + to_come;
    if (peak <= entry.agent->memory_limit_bytes) continue;
    return absl::StrCat("memory of ", round.roster.NameOf(serial),
                        ": the planned peak of ", MebibytesText(peak), " (",
                        MebibytesText(entry.agent->memory_used_bytes),
                        " used and ", MebibytesText(to_come),
                        " for the new world and staging) is ",
                        "above the container's limit of ",
                        MebibytesText(entry.agent->memory_limit_bytes));
  }
  return "";
}

GiveUp WhilePlanned(Round& round) {
  const api::TransitionStatus& running = *round.next.transition;
  if (round.spec.suspend) return {"the job is suspended", true};
  if (round.finishing()) return {"training has come to its end", true};
  // A wish that can't be read changes nothing.
  const bool readable = round.seen.job.spec.ok();
  if (std::string why = readable ? WhyNotWanted(round) : ""; !why.empty()) {
    return {std::move(why), true};
  }
  if (AllPrepared(round)) return {MemoryRefusal(round), false};
  const absl::Duration timeout = round.spec.elastic.transition_timeout;
  const absl::Time deadline = running.start_time + timeout;
  if (round.now() < deadline) {
    round.LookAgainAt(deadline, "preparation has a deadline");
    return {};
  }
  return {absl::StrCat("not prepared within ", absl::FormatDuration(timeout),
                       ": waited for ", Behind(round, Phase::kPrepared)),
          false};
}

// "rank 0 of gpt-1 (at step 118, its last one ended 95 s ago)".
std::string Stragglers(const Round& round) {
  std::vector<std::string> names;
  for (const uint32_t serial : round.members()) {
    const RosterEntry entry = round.roster.At(serial);
    if (entry.agent == nullptr || entry.gone) continue;
    const agent::TransitionObservation& seen = entry.agent->transition;
    if (seen.phase >= Phase::kVerified) continue;
    for (const agent::RankObservation& rank : entry.agent->ranks) {
      if (rank.local_rank >= seen.ranks.size()) continue;
      if (seen.ranks[rank.local_rank].stopped) continue;
      std::string age;
      if (rank.step_age) {
        age = absl::StrCat(", which ended ", rank.step_age->count() / 1000,
                           " s ago");
      }
      names.push_back(absl::StrCat("rank ", rank.local_rank, " of ",
                                   round.roster.NameOf(serial), " (last step ",
                                   rank.step, age, ")"));
    }
  }
  return absl::StrJoin(names, ", ");
}

GiveUp WhileDraining(Round& round) {
  const api::TransitionStatus& running = *round.next.transition;
  const absl::Duration timeout = round.spec.elastic.step_timeout;
  const absl::Time boundary = running.phase_time + timeout;
  if (round.now() < boundary) {
    round.LookAgainAt(boundary, "the step boundary has a deadline");
    return {};
  }
  if (std::string who = Stragglers(round); !who.empty()) {
    return {absl::StrCat("not at the step boundary within ",
                         absl::FormatDuration(timeout), ": ", who),
            false};
  }
  const absl::Time end = boundary + TransferDeadline(round.spec);
  if (round.now() < end) {
    round.LookAgainAt(end, "the transfer has a deadline");
    return {};
  }
  return {absl::StrCat("not verified within ",
                       absl::FormatDuration(end - running.phase_time),
                       ": waited for ", Behind(round, Phase::kVerified)),
          false};
}

}  // namespace

GiveUp WhyGiveUp(Round& round) {
  return round.next.transition->phase == "Planned" ? WhilePlanned(round)
                                                   : WhileDraining(round);
}

absl::Duration TransferDeadline(const api::JobSpec& spec) {
  return spec.elastic.step_timeout + kTransferTime;
}

}  // namespace dynatrain::control
