#include "agent/agent_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/exit_code.h"
#include "agent/log.h"
#include "agent/rank_frames.h"
#include "agent/version.h"
#include "base/status_macros.h"
#include "transition/commit/phase.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using transition::Participant;
using transition::Phase;
using transition::RankOrder;

constexpr milliseconds kMaxObserveWait{30000};
// A rank answers `arm` from a thread that does nothing else.
constexpr std::chrono::seconds kArmDeadline{3};

}  // namespace

AgentState::AgentState(const AgentConfig& config, StoreRouter* router,
                       WorkerPool* workers, Seams seams)
    : config_(config),
      router_(router),
      workers_(workers),
      seams_(std::move(seams)),
      participant_(config.ranks_per_replica),
      ranks_(config.ranks_per_replica) {
  for (int rank = 0; rank < config.ranks_per_replica; ++rank) {
    ranks_[rank].seen.local_rank = rank;
    ranks_[rank].part.local_rank = rank;
  }
}

// ---- observation

Observation AgentState::Observe(uint64_t known_version, milliseconds wait) {
  const Clock::time_point deadline =
      Clock::now() + std::min(wait, kMaxObserveWait);
  absl::MutexLock lock(&mutex_);
  while (true) {
    const Clock::time_point now = Clock::now();
    if (raise_version_at_ && now >= *raise_version_at_) Changed();
    if (version_ != known_version || now >= deadline || stop_waits_) {
      return Snapshot();
    }
    const Clock::time_point until =
        std::min(deadline, raise_version_at_.value_or(deadline));
    changed_.WaitWithTimeout(&mutex_, absl::FromChrono(until - now));
  }
}

Observation AgentState::Snapshot() const {
  const ContainerMemory memory = seams_.memory();
  const Clock::time_point now = Clock::now();
  Observation observation{
      .version = version_,
      .term = participant_.term(),
      .job_uid = config_.job_uid,
      .serial = config_.serial,
      .agent_version = kAgentVersion,
      .committed_generation = participant_.committed_generation(),
      .manifest_digest = manifest_.digest,
      .leaving = leave_until_.has_value(),
      .memory_limit_bytes = memory.limit_bytes,
      .memory_used_bytes = memory.used_bytes,
      .transition = {.id = participant_.terms().id,
                     .generation = participant_.generation(),
                     .phase = participant_.phase(),
                     .armed_step = participant_.armed_step(),
                     .failure = participant_.failure()}};
  const auto since = [](Clock::duration time) {
    return std::max(std::chrono::duration_cast<milliseconds>(time),
                    milliseconds(0));
  };
  if (leave_until_) observation.leave_deadline = since(*leave_until_ - now);
  for (const LocalRank& rank : ranks_) {
    RankObservation& seen = observation.ranks.emplace_back(rank.seen);
    if (rank.last_step) seen.step_age = since(now - *rank.last_step);
    observation.transition.ranks.push_back(rank.part);
  }
  return observation;
}

void AgentState::Changed() {
  ++version_;
  raise_version_at_.reset();
  changed_.SignalAll();
}

uint64_t AgentState::HighestStep() const {
  uint64_t step = 0;
  for (const LocalRank& rank : ranks_) step = std::max(step, rank.seen.step);
  return step;
}

Manifest AgentState::CommittedManifest() const {
  absl::MutexLock lock(&mutex_);
  return manifest_;
}

void AgentState::StopWaits() {
  absl::MutexLock lock(&mutex_);
  stop_waits_ = true;
  Changed();
}

// ---- commands

template <typename Command>
absl::Status AgentState::Run(absl::string_view name, Command command) {
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    const uint64_t term = participant_.term();
    status = command();
    if (participant_.term() != term) {
      Log(LogLevel::kInfo, absl::StrCat("term=", participant_.term()));
      Changed();
    }
    Follow();
  }
  if (!status.ok()) {
    Log(LogLevel::kWarning,
        absl::StrCat(name, " is refused: ", status.ToString()));
  }
  seams_.wake();
  return status;
}

absl::Status AgentState::Greet(const Fence& fence) {
  return Run("Greet", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return participant_.Greet(fence);
  });
}

bool AgentState::IsIn(const World& world) const {
  return std::any_of(
      world.members.begin(), world.members.end(),
      [&](const Member& member) { return member.serial == config_.serial; });
}

absl::Status AgentState::CheckMember(const World& world) const {
  for (const Member& member : world.members) {
    if (member.serial != config_.serial) continue;
    if (member.ranks.size() != ranks_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the transition names ", member.ranks.size(), " ranks for serial ",
          member.serial, ", it has ", ranks_.size()));
    }
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      const uint64_t mine = ranks_[rank].seen.process_id;
      if (member.ranks[rank].process_id == mine) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("the transition names process ",
                       member.ranks[rank].process_id, " as local rank ", rank,
                       " of serial ", member.serial, ", it is ", mine));
    }
  }
  return absl::OkStatus();
}

absl::Status AgentState::CheckMembership(const Transition& transition) const {
  for (const LocalRank& rank : ranks_) {
    if (rank.link != nullptr) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("local rank ", rank.seen.local_rank,
                     rank.connected_before ? " has lost its connection"
                                           : " has not said hello yet"));
  }
  RETURN_IF_ERROR(CheckMember(transition.source));
  return CheckMember(transition.target);
}

absl::Status AgentState::Prepare(const Fence& fence,
                                 const Transition& transition) {
  const transition::TransitionTerms terms{
      .id = transition.id,
      .generation = transition.generation,
      .source_generation = transition.source.generation,
      .in_source = IsIn(transition.source),
      .in_target = IsIn(transition.target),
      .prepare_deadline = transition.prepare_deadline,
      .transfer_deadline = transition.transfer_deadline};
  return Run("Prepare", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool fresh = participant_.generation() != transition.generation;
    RETURN_IF_ERROR(participant_.Greet(fence));  // who is deposed, hears that
    if (fresh) RETURN_IF_ERROR(CheckMembership(transition));
    RETURN_IF_ERROR(participant_.Prepare(fence, terms, Clock::now()));
    if (!fresh) return absl::OkStatus();
    transition_ = transition;
    prepared_manifest_ = {};
    for (LocalRank& rank : ranks_) {
      rank.part = {.local_rank = rank.seen.local_rank};
    }
    const Member& host = transition.target.members.front();
    if (host.serial == config_.serial) {
      router_->OpenHere(transition.generation);
    } else {
      router_->OpenAt(transition.generation, host.agent_address);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<ArmReply> AgentState::Arm(const Fence& fence, uint64_t step) {
  RETURN_IF_ERROR(Run("Arm", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return participant_.Arm(fence, step);
  }));
  const absl::Time deadline = absl::Now() + absl::FromChrono(kArmDeadline);
  absl::MutexLock lock(&mutex_);
  const auto pending = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return participant_.generation() == fence.generation &&
           participant_.arm() == Participant::ArmState::kPending;
  };
  while (pending()) {
    if (!changed_.WaitWithDeadline(&mutex_, deadline) || !pending()) continue;
    participant_.GiveUpArm(absl::StrCat(
        "local rank ", absl::StrJoin(participant_.unanswered(), ", "),
        " did not answer within ", kArmDeadline.count(), " s"));
    Follow();
  }
  const bool armed = participant_.generation() == fence.generation &&
                     participant_.armed_step() == step &&
                     participant_.phase() >= Phase::kArmed &&
                     participant_.phase() <= Phase::kReleased;
  return ArmReply{.refused = !armed,
                  .seen = HighestStep(),
                  .reason = armed ? "" : participant_.arm_refusal()};
}

absl::Status AgentState::Go(const Fence& fence) {
  return Run("Go", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return participant_.Go(fence, Clock::now());
  });
}

absl::Status AgentState::Cancel(const Fence& fence) {
  return Run("Cancel", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return participant_.Cancel(fence);
  });
}

absl::Status AgentState::Abort(const Fence& fence, absl::string_view reason) {
  return Run("Abort", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return participant_.Abort(fence, reason);
  });
}

absl::Status AgentState::Commit(const Fence& fence) {
  return Run("Commit", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return participant_.Commit(fence);
  });
}

absl::Status AgentState::Dismiss(const Fence& fence,
                                 const std::string& reason) {
  return Run("Dismiss", [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    RETURN_IF_ERROR(participant_.Greet(fence));
    End(Ending::Kind::kDismissed, reason);
    return absl::OkStatus();
  });
}

// ---- what follows from an event

void AgentState::Follow() {
  for (const RankOrder& order : participant_.TakeOrders()) {
    PostToAll(order.kind == RankOrder::Kind::kPrepare
                  ? PrepareFrame(transition_, seams_.memory())
                  : OrderFrame(order));
    if (order.kind == RankOrder::Kind::kCancel) {
      for (LocalRank& rank : ranks_) rank.part.stopped = false;
    }
    Changed();
  }
  if (participant_.phase() == last_phase_) return;
  last_phase_ = participant_.phase();
  FollowPhase();
  Changed();
}

void AgentState::FollowPhase() {
  const Phase phase = participant_.phase();
  const uint64_t generation = participant_.generation();
  Log(LogLevel::kInfo,
      absl::StrCat(
          "generation=", generation, " phase=", transition::PhaseName(phase),
          participant_.failure().empty()
              ? ""
              : absl::StrCat(" reason=\"", participant_.failure(), "\"")));
  if (phase == Phase::kFailed || phase == Phase::kAborted) {
    router_->Close(generation, absl::StrCat("the transition was given up (",
                                            participant_.failure(), ")"));
    for (LocalRank& rank : ranks_) {
      if (rank.seen.state == RankState::kStopped) {
        rank.seen.state = participant_.committed_generation() > 0
                              ? RankState::kTraining
                              : RankState::kReady;
      }
    }
  } else if (phase == Phase::kCommitted) {
    router_->Close(generation, "it is committed");
    manifest_ = std::exchange(prepared_manifest_, {});
  } else if (phase == Phase::kReleased && !participant_.terms().in_target) {
    End(Ending::Kind::kLeft, "left the layout as told");
  }
  CheckLeave(Clock::now());
}

void AgentState::PostToAll(const api::Frame& frame) {
  for (LocalRank& rank : ranks_) {
    if (rank.link != nullptr) rank.link->Post(frame);
  }
}

void AgentState::End(Ending::Kind kind, std::string reason) {
  if (ending_) return;
  Log(LogLevel::kInfo, absl::StrCat("ending the ranks: ", reason));
  if (kind == Ending::Kind::kDismissed) PostToAll(DismissFrame(reason));
  ending_ = Ending{kind, std::move(reason)};
  Changed();
}

void AgentState::CheckLeave(Clock::time_point now) {
  if (!leave_until_ || ending_) return;
  if (participant_.committed_generation() == 0 &&
      transition::IsOver(participant_.phase())) {
    End(Ending::Kind::kDismissed, "SIGTERM, and it never was in the layout");
  } else if (now >= *leave_until_) {
    End(Ending::Kind::kGraceOver,
        "the pod's grace ends and it is still in the layout");
  }
}

// ---- processes

void AgentState::RankStarted(int rank, int64_t os_pid) {
  absl::MutexLock lock(&mutex_);
  ranks_[rank].seen.os_pid = os_pid;
  Changed();
}

void AgentState::RankExited(int rank, int code) {
  const std::string how =
      code > 128 ? absl::StrCat("was killed by signal ", code - 128)
                 : absl::StrCat("exited with code ", code);
  absl::MutexLock lock(&mutex_);
  RankObservation& seen = ranks_[rank].seen;
  seen.state = RankState::kExited;
  seen.exit_code = code;
  const Phase phase = participant_.phase();
  const bool leaver = !participant_.terms().in_target &&
                      (phase == Phase::kCommitted || phase == Phase::kReleased);
  participant_.RankExited(rank, how);
  if (code != kExitDone && !(leaver && code == kExitLeft)) {
    if (seen.error.empty()) seen.error = how;
    End(Ending::Kind::kRankFailed, absl::StrCat("local rank ", rank, " ", how));
  }
  Follow();
  Changed();
}

void AgentState::Leave(Clock::time_point until) {
  absl::MutexLock lock(&mutex_);
  if (leave_until_) return;
  leave_until_ = until;
  Log(LogLevel::kInfo, "SIGTERM: leave notice");
  CheckLeave(Clock::now());
  Changed();
}

void AgentState::Tick(Clock::time_point now) {
  absl::MutexLock lock(&mutex_);
  participant_.Tick(now);
  CheckLeave(now);
  Follow();
}

std::optional<AgentState::Clock::time_point> AgentState::next_deadline() const {
  absl::MutexLock lock(&mutex_);
  std::optional<Clock::time_point> deadline = participant_.next_deadline();
  if (leave_until_ && !ending_) {
    deadline = std::min(deadline.value_or(*leave_until_), *leave_until_);
  }
  return deadline;
}

std::optional<Ending> AgentState::ending() const {
  absl::MutexLock lock(&mutex_);
  return ending_;
}

std::vector<int> AgentState::TakeUnruly() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(unruly_, {});
}

}  // namespace dynatrain::agent
