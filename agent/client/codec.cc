#include "agent/client/codec.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;

static_assert(static_cast<int>(transition::Phase::kPreparing) ==
              rpc::PHASE_PREPARING);
static_assert(static_cast<int>(transition::Phase::kVerified) ==
              rpc::PHASE_VERIFIED);
static_assert(static_cast<int>(transition::Phase::kAborted) ==
              rpc::PHASE_ABORTED);
static_assert(static_cast<int>(RankState::kExited) == rpc::RANK_EXITED);

rpc::World ToProto(const World& world) {
  rpc::World proto;
  proto.set_generation(world.generation);
  proto.set_layout(world.layout);
  for (const Member& member : world.members) {
    rpc::Member* to = proto.add_members();
    to->set_serial(member.serial);
    to->set_agent_address(member.agent_address);
    to->set_node(member.node);
    for (const RankEndpoint& rank : member.ranks) {
      rpc::RankEndpoint* endpoint = to->add_ranks();
      endpoint->set_process_id(rank.process_id);
      endpoint->set_data_address(rank.data_address);
    }
  }
  return proto;
}

World FromProto(const rpc::World& proto) {
  World world{.generation = proto.generation(), .layout = proto.layout()};
  for (const rpc::Member& member : proto.members()) {
    Member& to = world.members.emplace_back();
    to.serial = member.serial();
    to.agent_address = member.agent_address();
    to.node = member.node();
    for (const rpc::RankEndpoint& rank : member.ranks()) {
      to.ranks.push_back({rank.process_id(), rank.data_address()});
    }
  }
  return world;
}

absl::Status Invalid(absl::string_view field, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", problem));
}

// Each serial and each process once, none 0, none without an address.
absl::Status CheckWorld(absl::string_view name, const World& world) {
  std::set<uint32_t> serials;
  std::set<uint64_t> processes;
  for (const Member& member : world.members) {
    const std::string field = absl::StrCat(
        "transition.", name, ".members[serial ", member.serial, "]");
    if (!serials.insert(member.serial).second) {
      return Invalid(field, "is there twice");
    }
    if (member.agent_address.empty()) {
      return Invalid(field, "has no agent_address, want ip:port");
    }
    if (member.ranks.empty()) return Invalid(field, "has no ranks");
    for (const RankEndpoint& rank : member.ranks) {
      if (rank.process_id == 0) {
        return Invalid(field, "has a rank with process_id 0");
      }
      if (!processes.insert(rank.process_id).second) {
        return Invalid(field, absl::StrCat("process_id ", rank.process_id,
                                           " is there twice"));
      }
    }
  }
  if (world.members.empty() != world.layout.empty()) {
    return Invalid(absl::StrCat("transition.", name, ".layout"),
                   absl::StrCat("is '", world.layout, "' for ",
                                world.members.size(), " members"));
  }
  return absl::OkStatus();
}

absl::Status CheckTransition(const Transition& transition) {
  RETURN_IF_ERROR(CheckWorld("source", transition.source));
  RETURN_IF_ERROR(CheckWorld("target", transition.target));
  if (transition.id.empty()) return Invalid("transition.id", "is empty");
  if (transition.target.members.empty()) {
    return Invalid("transition.target.members", "is empty");
  }
  if (transition.generation != transition.target.generation) {
    return Invalid(
        "transition.generation",
        absl::StrCat("is ", transition.generation, ", the target world's is ",
                     transition.target.generation));
  }
  if (transition.source.generation >= transition.generation) {
    return Invalid(
        "transition.source.generation",
        absl::StrCat("is ", transition.source.generation,
                     ", want less than the target's ", transition.generation));
  }
  if (transition.transfer_deadline <= milliseconds(0)) {
    return Invalid("transition.transfer_deadline_ms", "is 0, want more");
  }
  if (transition.prepare_deadline <= milliseconds(0)) {
    return Invalid("transition.prepare_deadline_ms", "is 0, want more");
  }
  return absl::OkStatus();
}

rpc::RankObservation ToProto(const RankObservation& rank) {
  rpc::RankObservation proto;
  proto.set_local_rank(rank.local_rank);
  proto.set_process_id(rank.process_id);
  proto.set_os_pid(rank.os_pid);
  proto.set_data_address(rank.data_address);
  proto.set_state(static_cast<rpc::RankState>(rank.state));
  proto.set_exit_code(rank.exit_code);
  proto.set_generation(rank.generation);
  proto.set_step(rank.step);
  proto.set_step_age_ms(rank.step_age ? rank.step_age->count() : -1);
  proto.set_loss(rank.loss);
  proto.set_samples(rank.samples);
  proto.set_step_ms(rank.step_ms);
  proto.set_error(rank.error);
  proto.set_text(rank.text);
  return proto;
}

RankObservation FromProto(const rpc::RankObservation& proto) {
  RankObservation rank{.local_rank = proto.local_rank(),
                       .process_id = proto.process_id(),
                       .os_pid = proto.os_pid(),
                       .data_address = proto.data_address(),
                       .state = static_cast<RankState>(proto.state()),
                       .exit_code = proto.exit_code(),
                       .generation = proto.generation(),
                       .step = proto.step(),
                       .loss = proto.loss(),
                       .samples = proto.samples(),
                       .step_ms = proto.step_ms(),
                       .error = proto.error(),
                       .text = proto.text()};
  if (proto.step_age_ms() >= 0)
    rank.step_age = milliseconds(proto.step_age_ms());
  return rank;
}

rpc::RankTransition ToProto(const RankTransition& rank) {
  rpc::RankTransition proto;
  proto.set_local_rank(rank.local_rank);
  proto.set_prepared(rank.prepared);
  proto.set_manifest_digest(rank.manifest_digest);
  proto.set_plan_digest(rank.plan_digest);
  proto.set_sent_hash(rank.sent_hash);
  proto.set_received_hash(rank.received_hash);
  proto.set_mode(rank.mode);
  proto.set_new_bytes(rank.new_bytes);
  proto.set_staging_bytes(rank.staging_bytes);
  proto.set_kept_bytes(rank.kept_bytes);
  proto.set_moved_bytes(rank.moved_bytes);
  proto.set_minimal_bytes(rank.minimal_bytes);
  proto.set_stopped(rank.stopped);
  proto.set_stopped_step(rank.stopped_step);
  proto.set_verified(rank.verified);
  proto.set_bytes_sent(rank.bytes_sent);
  proto.set_bytes_received(rank.bytes_received);
  proto.set_resumed(rank.resumed);
  proto.set_left(rank.left);
  proto.set_pause_ms(rank.pause_ms);
  proto.mutable_times_ms()->insert(rank.times_ms.begin(), rank.times_ms.end());
  proto.mutable_pause_parts_ms()->insert(rank.pause_parts_ms.begin(),
                                         rank.pause_parts_ms.end());
  proto.set_failure(rank.failure);
  return proto;
}

RankTransition FromProto(const rpc::RankTransition& proto) {
  RankTransition rank{.local_rank = proto.local_rank(),
                      .prepared = proto.prepared(),
                      .manifest_digest = proto.manifest_digest(),
                      .plan_digest = proto.plan_digest(),
                      .sent_hash = proto.sent_hash(),
                      .received_hash = proto.received_hash(),
                      .mode = proto.mode(),
                      .new_bytes = proto.new_bytes(),
                      .staging_bytes = proto.staging_bytes(),
                      .kept_bytes = proto.kept_bytes(),
                      .moved_bytes = proto.moved_bytes(),
                      .minimal_bytes = proto.minimal_bytes(),
                      .stopped = proto.stopped(),
                      .stopped_step = proto.stopped_step(),
                      .verified = proto.verified(),
                      .bytes_sent = proto.bytes_sent(),
                      .bytes_received = proto.bytes_received(),
                      .resumed = proto.resumed(),
                      .left = proto.left(),
                      .pause_ms = proto.pause_ms(),
                      .failure = proto.failure()};
  rank.times_ms.insert(proto.times_ms().begin(), proto.times_ms().end());
  rank.pause_parts_ms.insert(proto.pause_parts_ms().begin(),
                             proto.pause_parts_ms().end());
  return rank;
}

rpc::TransitionObservation ToProto(const TransitionObservation& transition) {
  rpc::TransitionObservation proto;
  proto.set_id(transition.id);
  proto.set_generation(transition.generation);
  proto.set_phase(static_cast<rpc::Phase>(transition.phase));
  proto.set_armed_step(transition.armed_step);
  proto.set_failure(transition.failure);
  for (const RankTransition& rank : transition.ranks) {
    *proto.add_ranks() = ToProto(rank);
  }
  return proto;
}

TransitionObservation FromProto(const rpc::TransitionObservation& proto) {
  TransitionObservation transition{
      .id = proto.id(),
      .generation = proto.generation(),
      .phase = static_cast<transition::Phase>(proto.phase()),
      .armed_step = proto.armed_step(),
      .failure = proto.failure()};
  for (const rpc::RankTransition& rank : proto.ranks()) {
    transition.ranks.push_back(FromProto(rank));
  }
  return transition;
}

}  // namespace

rpc::Fence ToProto(const transition::Fence& fence) {
  rpc::Fence proto;
  proto.set_term(fence.term);
  proto.set_generation(fence.generation);
  proto.set_plan_digest(fence.plan_digest);
  return proto;
}

transition::Fence FromProto(const rpc::Fence& fence) {
  return {fence.term(), fence.generation(), fence.plan_digest()};
}

rpc::Transition ToProto(const Transition& transition) {
  rpc::Transition proto;
  proto.set_id(transition.id);
  proto.set_generation(transition.generation);
  *proto.mutable_source() = ToProto(transition.source);
  *proto.mutable_target() = ToProto(transition.target);
  proto.set_manifest(transition.manifest);
  proto.set_seed(transition.seed);
  proto.set_transfer_deadline_ms(transition.transfer_deadline.count());
  proto.set_prepare_deadline_ms(transition.prepare_deadline.count());
  return proto;
}

absl::StatusOr<Transition> FromProto(const rpc::Transition& proto) {
  Transition transition{
      .id = proto.id(),
      .generation = proto.generation(),
      .source = FromProto(proto.source()),
      .target = FromProto(proto.target()),
      .manifest = proto.manifest(),
      .seed = proto.seed(),
      .transfer_deadline = milliseconds(proto.transfer_deadline_ms()),
      .prepare_deadline = milliseconds(proto.prepare_deadline_ms())};
  RETURN_IF_ERROR(CheckTransition(transition));
  return transition;
}

rpc::Observation ToProto(const Observation& observation) {
  rpc::Observation proto;
  proto.set_version(observation.version);
  proto.set_term(observation.term);
  proto.set_job_uid(observation.job_uid);
  proto.set_serial(observation.serial);
  proto.set_agent_version(observation.agent_version);
  proto.set_committed_generation(observation.committed_generation);
  proto.set_manifest_digest(observation.manifest_digest);
  proto.set_leaving(observation.leaving);
  proto.set_leave_deadline_ms(
      observation.leave_deadline ? observation.leave_deadline->count() : -1);
  proto.set_memory_limit_bytes(observation.memory_limit_bytes);
  proto.set_memory_used_bytes(observation.memory_used_bytes);
  for (const RankObservation& rank : observation.ranks) {
    *proto.add_ranks() = ToProto(rank);
  }
  *proto.mutable_transition() = ToProto(observation.transition);
  return proto;
}

Observation FromProto(const rpc::Observation& proto) {
  Observation observation{.version = proto.version(),
                          .term = proto.term(),
                          .job_uid = proto.job_uid(),
                          .serial = proto.serial(),
                          .agent_version = proto.agent_version(),
                          .committed_generation = proto.committed_generation(),
                          .manifest_digest = proto.manifest_digest(),
                          .leaving = proto.leaving(),
                          .memory_limit_bytes = proto.memory_limit_bytes(),
                          .memory_used_bytes = proto.memory_used_bytes(),
                          .transition = FromProto(proto.transition())};
  if (proto.leave_deadline_ms() >= 0 && proto.leaving()) {
    observation.leave_deadline = milliseconds(proto.leave_deadline_ms());
  }
  for (const rpc::RankObservation& rank : proto.ranks()) {
    observation.ranks.push_back(FromProto(rank));
  }
  return observation;
}

rpc::StoreRequest ToProto(const StoreRequest& request) {
  rpc::StoreRequest proto;
  proto.set_generation(request.generation);
  proto.set_op(request.op);
  for (const std::string& key : request.keys) proto.add_keys(key);
  proto.set_value(request.value);
  proto.set_expected(request.expected);
  proto.set_amount(request.amount);
  proto.set_timeout_ms(request.timeout.count());
  return proto;
}

StoreRequest FromProto(const rpc::StoreRequest& proto) {
  return {.generation = proto.generation(),
          .op = proto.op(),
          .keys = {proto.keys().begin(), proto.keys().end()},
          .value = proto.value(),
          .expected = proto.expected(),
          .amount = proto.amount(),
          .timeout = milliseconds(proto.timeout_ms())};
}

}  // namespace dynatrain::agent
