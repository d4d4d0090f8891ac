#include "operator/reconcile/drive.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "operator/reconcile/give_up.h"
#include "operator/reconcile/goal.h"
#include "operator/reconcile/history.h"
#include "operator/reconcile/transition_view.h"
#include "transition/commit/coordinator.h"

namespace dynatrain::control {
namespace {

using Verdict = transition::Action;
using transition::Decision;
using transition::TransitionView;

std::string ManifestDigest(const Round& round) {
  const int64_t generation = round.next.transition->generation;
  for (const uint32_t serial : Participants(round)) {
    const agent::TransitionObservation* seen =
        TransitionOf(round, serial, generation);
    if (seen == nullptr) continue;
    for (const agent::RankTransition& rank : seen->ranks) {
      if (!rank.manifest_digest.empty()) return rank.manifest_digest;
    }
  }
  return round.next.manifest_digest;
}

// From here the target is the job's world.
void Commit(Round& round) {
  api::JobStatus& next = round.next;
  const api::TransitionStatus& running = *next.transition;
  next.manifest_digest = ManifestDigest(round);
  next.generation = running.generation;
  next.members = running.to_members;
  next.replicas = static_cast<int>(round.members().size());
  next.layout = {running.to, running.reason,
                 vps::AxisSizes::Parse(running.to)->world_size()};
  next.retry.reset();
}

// Takes the durable step that `decision` asks for. False if it asks for none.
bool Write(Round& round, const Decision& decision) {
  api::TransitionStatus& running = *round.next.transition;
  const auto enter = [&](const char* phase, std::string message) {
    running.phase = phase;
    running.phase_time = round.now();
    running.message = std::move(message);
  };
  switch (decision.action) {
    case Verdict::kWriteDraining:
      running.plan_digest = decision.plan_digest;
      enter("Draining", "all are prepared; stopping at a step boundary");
      return true;
    case Verdict::kWriteCommitted:
      enter("Committed", "state has moved; resuming");
      Commit(round);
      return true;
    case Verdict::kWriteReleased:
      enter("Released", "");
      AppendHistory(round);
      running.message = round.next.history.back().summary;
      return true;
    case Verdict::kWriteAborted:
      enter("Aborted", round.roster.WithNames(decision.reason));
      AppendHistory(round);
      NoteFailure(round);
      return true;
    case Verdict::kWriteSuperseded:
      enter("Superseded", round.roster.WithNames(decision.reason));
      AppendHistory(round);
      return true;
    default:
      return false;
  }
}

using NodeNumbers = std::map<std::string, uint32_t>;

// The nodes of all members of a transition, from 1: the same in each Prepare,
// since pods don't move.
NodeNumbers NumberNodes(const Round& round,
                        const api::TransitionStatus& running) {
  NodeNumbers numbers;
  for (const std::string& members :
       {running.from_members, running.to_members}) {
    for (const uint32_t serial : SerialsOf(members)) {
      const PodView* pod = round.roster.At(serial).pod;
      if (pod != nullptr && !pod->node.empty()) numbers[pod->node] = 0;
    }
  }
  uint32_t next = 1;
  for (auto& [name, number] : numbers) number = next++;
  return numbers;
}

// 0 if it isn't known.
uint32_t NodeOf(const NodeNumbers& nodes, const PodView* pod) {
  if (pod == nullptr) return 0;
  const auto it = nodes.find(pod->node);
  return it == nodes.end() ? 0 : it->second;
}

// One side of the transition with the addresses that its agents told; nullopt
// if one of them has not been heard yet.
std::optional<agent::World> MakeWorld(const Round& round, int64_t generation,
                                      const std::string& layout,
                                      const std::string& members,
                                      const NodeNumbers& nodes) {
  agent::World world{static_cast<uint64_t>(generation), layout, {}};
  for (const uint32_t serial : SerialsOf(members)) {
    const RosterEntry entry = round.roster.At(serial);
    const std::vector<AgentTarget> target = round.roster.Targets({serial});
    if (entry.agent == nullptr || target.empty()) return std::nullopt;
    agent::Member member{
        serial, target[0].address, {}, NodeOf(nodes, entry.pod)};
    for (const agent::RankObservation& rank : entry.agent->ranks) {
      if (rank.process_id == 0) return std::nullopt;
      member.ranks.push_back({rank.process_id, rank.data_address});
    }
    world.members.push_back(std::move(member));
  }
  return world;
}

void Prepare(Round& round, const Decision& decision) {
  const api::TransitionStatus& running = *round.next.transition;
  const bool first = running.from_members.empty();
  const NodeNumbers nodes = NumberNodes(round, running);
  const auto source = MakeWorld(round, first ? 0 : round.next.generation,
                                running.from, running.from_members, nodes);
  const auto target = MakeWorld(round, running.generation, running.to,
                                running.to_members, nodes);
  if (!source || !target) return;
  SendPrepare prepare;
  prepare.fence = round.fence(running.generation);
  prepare.targets = round.roster.Targets(decision.serials);
  prepare.transition = {
      .id = running.id,
      .generation = prepare.fence.generation,
      .source = *source,
      .target = *target,
      .seed = FingerprintOf(round.job().uid).low,
      .transfer_deadline =
          absl::ToChronoMilliseconds(TransferDeadline(round.spec)),
      .prepare_deadline =
          absl::ToChronoMilliseconds(round.spec.elastic.transition_timeout)};
  prepare.manifest_digest = first ? "" : round.next.manifest_digest;
  round.Do(std::move(prepare));
}

void Command(Round& round, const Decision& decision) {
  const api::TransitionStatus& running = *round.next.transition;
  const Fence fence = round.fence(running.generation, decision.plan_digest);
  const auto targets = round.roster.Targets(decision.serials);
  switch (decision.action) {
    case Verdict::kPrepare:
      return Prepare(round, decision);
    case Verdict::kArm:
      return round.Do(
          SendArm{fence, targets, static_cast<int64_t>(decision.step)});
    case Verdict::kGo:
      return round.Do(SendGo{fence, targets});
    case Verdict::kCancel:
      return round.Do(SendCancel{fence, targets});
    case Verdict::kCommit:
      return round.Do(SendCommit{fence, targets});
    case Verdict::kAbort:
      return round.Do(
          SendAbort{round.fence(running.generation), targets, running.message});
    default:
      // Nothing to say; or Greet, which Decide has said to all agents; or a
      // second write, which is the next round's.
      return;
  }
}

}  // namespace

Driven DriveTransition(Round& round) {
  if (!round.next.transition) return Driven::kFree;
  TransitionView view = MakeView(round);
  if (view.record == transition::RecordPhase::kPlanned ||
      view.record == transition::RecordPhase::kDraining) {
    GiveUp give_up = WhyGiveUp(round);
    view.give_up = std::move(give_up.reason);
    view.superseded = give_up.superseded;
  }
  Decision decision = transition::Decide(view);
  if (Write(round, decision)) {
    view.record = ToRecordPhase(round.next.transition->phase);
    decision = transition::Decide(view);
  }
  if (decision.action == Verdict::kStandDown) return Driven::kDeposed;
  if (decision.action == Verdict::kDone) return Driven::kFree;
  Command(round, decision);
  return Driven::kBusy;
}

}  // namespace dynatrain::control
