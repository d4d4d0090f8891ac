#include "operator/driver/agent_view.h"

#include <algorithm>
#include <limits>

namespace dynatrain::control {
namespace {

// The wire has unsigned counters; a value that no job reaches is cut.
int64_t Signed(uint64_t value) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(value, kMax));
}

absl::Duration DurationOf(
    const std::optional<std::chrono::milliseconds>& duration) {
  return duration.has_value() ? absl::FromChrono(*duration)
                              : absl::InfiniteDuration();
}

RankState StateOf(agent::RankState state) {
  switch (state) {
    case agent::RankState::kStarting:
      return RankState::kStarting;
    case agent::RankState::kReady:
      return RankState::kReady;
    case agent::RankState::kTraining:
      return RankState::kTraining;
    case agent::RankState::kStopped:
      return RankState::kStopped;
    case agent::RankState::kFinished:
      return RankState::kFinished;
    case agent::RankState::kExited:
      return RankState::kExited;
  }
  return RankState::kStarting;
}

RankObservation RankViewOf(const agent::RankObservation& rank) {
  return {.local_rank = rank.local_rank,
          .process_id = rank.process_id,
          .data_address = rank.data_address,
          .state = StateOf(rank.state),
          .exit_code = rank.exit_code,
          .generation = Signed(rank.generation),
          .step = Signed(rank.step),
          .step_age = DurationOf(rank.step_age),
          .loss = rank.loss,
          .samples = Signed(rank.samples),
          .step_ms = rank.step_ms,
          .error = rank.error,
          .text = rank.text};
}

RankTransition RankTransitionOf(const agent::RankTransition& rank) {
  return {.local_rank = rank.local_rank,
          .prepared = rank.prepared,
          .manifest_digest = rank.manifest_digest,
          .plan_digest = rank.plan_digest,
          .sent_hash = rank.sent_hash,
          .received_hash = rank.received_hash,
          .mode = rank.mode,
          .new_bytes = Signed(rank.new_bytes),
          .staging_bytes = Signed(rank.staging_bytes),
          .kept_bytes = Signed(rank.kept_bytes),
          .moved_bytes = Signed(rank.moved_bytes),
          .minimal_bytes = Signed(rank.minimal_bytes),
          .stopped = rank.stopped,
          .stopped_step = Signed(rank.stopped_step),
          .verified = rank.verified,
          .bytes_sent = Signed(rank.bytes_sent),
          .bytes_received = Signed(rank.bytes_received),
          .resumed = rank.resumed,
          .left = rank.left,
          .pause_ms = rank.pause_ms,
          .times_ms = rank.times_ms,
          .pause_parts_ms = rank.pause_parts_ms,
          .failure = rank.failure};
}

AgentTransition TransitionOf(const agent::TransitionObservation& transition) {
  AgentTransition view = {.id = transition.id,
                          .generation = Signed(transition.generation),
                          .phase = transition.phase,
                          .armed_step = Signed(transition.armed_step),
                          .failure = transition.failure};
  for (const agent::RankTransition& rank : transition.ranks) {
    view.ranks.push_back(RankTransitionOf(rank));
  }
  return view;
}

}  // namespace

AgentObservation AgentViewOf(const AgentSeen& seen) {
  const agent::Observation& said = seen.observation;
  AgentObservation view = {
      .term = said.term,
      .job_uid = said.job_uid,
      .agent_version = said.agent_version,
      .committed_generation = Signed(said.committed_generation),
      .manifest_digest = said.manifest_digest,
      .leaving = said.leaving,
      .leave_left = DurationOf(said.leave_deadline),
      .memory_limit_bytes = Signed(said.memory_limit_bytes),
      .memory_used_bytes = Signed(said.memory_used_bytes),
      .transition = TransitionOf(said.transition),
      .received = seen.received};
  for (const agent::RankObservation& rank : said.ranks) {
    view.ranks.push_back(RankViewOf(rank));
  }
  return view;
}

agent::World ToAgentWorld(const World& world) {
  agent::World result;
  result.generation = world.generation;
  result.layout = world.layout;
  for (const MemberWorld& member : world.members) {
    agent::Member& added = result.members.emplace_back();
    added.serial = member.serial;
    added.agent_address = member.agent_address;
    for (const RankEndpoint& rank : member.ranks) {
      added.ranks.push_back({rank.process_id, rank.data_address});
    }
  }
  return result;
}

agent::Transition ToAgentTransition(const SendPrepare& prepare,
                                    const std::string& manifest) {
  agent::Transition transition;
  transition.id = prepare.id;
  transition.generation = prepare.target.generation;
  transition.source = ToAgentWorld(prepare.source);
  transition.target = ToAgentWorld(prepare.target);
  transition.manifest = manifest;
  transition.seed = prepare.seed;
  transition.transfer_deadline =
      absl::ToChronoMilliseconds(prepare.transfer_deadline);
  transition.prepare_deadline =
      absl::ToChronoMilliseconds(prepare.prepare_deadline);
  return transition;
}

}  // namespace dynatrain::control
