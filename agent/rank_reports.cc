// The part of AgentState that listens to the ranks.
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/agent_state.h"
#include "agent/log.h"
#include "agent/rank_frames.h"
#include "base/status_macros.h"

namespace dynatrain::agent {
namespace {

// Within this time after a step, Observe tells of it.
constexpr std::chrono::milliseconds kStepsShownWithin{50};

}  // namespace

absl::StatusOr<int> AgentState::Hello(const api::Frame& frame,
                                      std::shared_ptr<RankLink> link) {
  RETURN_IF_ERROR(CheckTexts(frame));
  ASSIGN_OR_RETURN(const agent::Hello hello,
                   ReadHello(frame, config_.ranks_per_replica));
  absl::MutexLock lock(&mutex_);
  LocalRank& rank = ranks_[hello.local_rank];
  if (rank.connected_before || rank.seen.state == RankState::kExited) {
    return absl::FailedPreconditionError(absl::StrCat(
        "local rank ", hello.local_rank,
        rank.link != nullptr ? " is connected already"
                             : " was connected before and is lost"));
  }
  rank.connected_before = true;
  rank.seen.process_id = hello.process_id;
  rank.seen.data_address = hello.data_address;
  rank.seen.state = RankState::kReady;
  link->Post(WelcomeFrame(config_, hello.local_rank));
  if (ending_ && ending_->kind == Ending::Kind::kDismissed) {
    link->Post(DismissFrame(ending_->reason));
  }
  rank.link = std::move(link);
  Changed();
  return hello.local_rank;
}

absl::Status AgentState::Report(int rank, const api::Frame& frame) {
  RETURN_IF_ERROR(CheckTexts(frame));
  {
    absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(Dispatch(rank, frame));
    Follow();
  }
  seams_.wake();
  return absl::OkStatus();
}

void AgentState::Lost(int rank, const absl::Status& why) {
  {
    absl::MutexLock lock(&mutex_);
    LocalRank& lost = ranks_[rank];
    const bool unruly = absl::IsInvalidArgument(why);
    // It is about to be killed. Cut off, it might end by itself before that,
    // and its exit code would be taken for the reason.
    if (!unruly) lost.link.reset();
    const bool expected = lost.seen.state == RankState::kFinished ||
                          lost.seen.state == RankState::kExited ||
                          lost.part.left || ending_.has_value();
    if (unruly) unruly_.push_back(rank);
    if (unruly || !expected) {
      const std::string how =
          unruly ? absl::StrCat("broke the protocol: ", why.message())
                 : "closed its connection to the agent";
      Log(LogLevel::kError, absl::StrCat("local rank ", rank, " ", how));
      lost.seen.error = how;
      participant_.RankExited(rank, how);
      Follow();
    }
    Changed();
  }
  seams_.wake();
}

absl::Status AgentState::Dispatch(int rank, const api::Frame& frame) {
  const std::string& kind = frame.kind();
  if (kind == "store") return OnStore(rank, frame);
  if (kind == "step") return OnStep(rank, frame);
  Changed();
  if (kind == "planned") return OnPlanned(rank, frame);
  if (kind == "prepared") return OnPrepared(rank, frame);
  if (kind == "failed") return OnFailed(rank, frame);
  if (kind == "armed") return OnArmed(rank, frame);
  if (kind == "stopped") return OnStopped(rank, frame);
  if (kind == "verified") return OnVerified(rank, frame);
  if (kind == "resumed" || kind == "left") return OnReleased(rank, frame);
  if (kind == "finished") {
    ASSIGN_OR_RETURN(ranks_[rank].seen.step, frame.Uint("step"));
    ranks_[rank].seen.state = RankState::kFinished;
    participant_.RankFinished(rank);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("frame '", kind, "': no rank says that"));
}

absl::Status AgentState::OnStep(int rank, const api::Frame& frame) {
  LocalRank& local = ranks_[rank];
  RankObservation seen = local.seen;
  RETURN_IF_ERROR(ReadStep(frame, seen));
  if (seen.generation == 0 || seen.generation > participant_.generation()) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame 'step': generation ", seen.generation,
                     ", the last one here is ", participant_.generation()));
  }
  seen.state = RankState::kTraining;
  local.seen = std::move(seen);
  local.last_step = Clock::now();
  if (!raise_version_at_) {
    raise_version_at_ = *local.last_step + kStepsShownWithin;
    changed_.SignalAll();
  }
  return absl::OkStatus();
}

absl::Status AgentState::OnPlanned(int rank, const api::Frame& frame) {
  RankTransition part = ranks_[rank].part;
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  RETURN_IF_ERROR(ReadPlanned(frame, part));
  RETURN_IF_ERROR(participant_.RankPlanned(rank, generation, part.plan_digest));
  if (generation == participant_.generation()) {
    ranks_[rank].part = std::move(part);
  }
  return absl::OkStatus();
}

absl::Status AgentState::OnPrepared(int rank, const api::Frame& frame) {
  RankTransition part = ranks_[rank].part;
  Manifest manifest;
  ASSIGN_OR_RETURN(manifest.generation, frame.Uint("g"));
  RETURN_IF_ERROR(ReadPrepared(frame, part, manifest.json));
  manifest.digest = part.manifest_digest;
  const uint64_t generation = manifest.generation;
  RETURN_IF_ERROR(
      participant_.RankPrepared(rank, generation, part.plan_digest));
  if (generation != participant_.generation()) return absl::OkStatus();
  if (!prepared_manifest_.digest.empty() &&
      prepared_manifest_.digest != manifest.digest) {
    return participant_.RankFailed(
        rank, generation,
        absl::StrCat("manifest digest ", manifest.digest,
                     ", another local rank has ", prepared_manifest_.digest));
  }
  prepared_manifest_ = std::move(manifest);
  ranks_[rank].part = std::move(part);
  return absl::OkStatus();
}

absl::Status AgentState::OnFailed(int rank, const api::Frame& frame) {
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  ASSIGN_OR_RETURN(const std::string stage, frame.Text("stage"));
  ASSIGN_OR_RETURN(const std::string reason, frame.Text("reason"));
  const std::string failure = absl::StrCat(stage, ": ", reason);
  RETURN_IF_ERROR(participant_.RankFailed(rank, generation, failure));
  if (generation == participant_.generation()) {
    ranks_[rank].part.failure = failure;
  }
  return absl::OkStatus();
}

absl::Status AgentState::OnArmed(int rank, const api::Frame& frame) {
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  ASSIGN_OR_RETURN(const uint64_t step, frame.Uint("step"));
  ASSIGN_OR_RETURN(const bool ok, frame.Bool("ok"));
  ASSIGN_OR_RETURN(const uint64_t seen, frame.Uint("seen"));
  // The operator arms past what it sees here.
  ranks_[rank].seen.step = std::max(ranks_[rank].seen.step, seen);
  return participant_.RankArmed(rank, generation, step, ok, seen);
}

absl::Status AgentState::OnStopped(int rank, const api::Frame& frame) {
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  ASSIGN_OR_RETURN(const uint64_t step, frame.Uint("step"));
  RETURN_IF_ERROR(
      participant_.RankStopped(rank, generation, step, Clock::now()));
  const transition::Phase phase = participant_.phase();
  if (generation != participant_.generation() || transition::IsOver(phase) ||
      phase == transition::Phase::kFailed || !participant_.stopped(rank)) {
    return absl::OkStatus();
  }
  ranks_[rank].part.stopped = true;
  ranks_[rank].part.stopped_step = step;
  ranks_[rank].seen.state = RankState::kStopped;
  return absl::OkStatus();
}

absl::Status AgentState::OnVerified(int rank, const api::Frame& frame) {
  RankTransition part = ranks_[rank].part;
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  RETURN_IF_ERROR(ReadVerified(frame, part));
  RETURN_IF_ERROR(participant_.RankVerified(rank, generation));
  if (generation == participant_.generation()) {
    ranks_[rank].part = std::move(part);
  }
  return absl::OkStatus();
}

absl::Status AgentState::OnReleased(int rank, const api::Frame& frame) {
  LocalRank& local = ranks_[rank];
  RankTransition part = local.part;
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  if (frame.kind() == "left") {
    part.left = true;
  } else {
    RETURN_IF_ERROR(ReadResumed(frame, part));
  }
  if (part.left == participant_.terms().in_target) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame '", frame.kind(), "': this pod ",
                     part.left ? "stays in" : "leaves", " the layout"));
  }
  RETURN_IF_ERROR(participant_.RankReleased(rank, generation));
  if (generation != participant_.generation()) return absl::OkStatus();
  local.part = std::move(part);
  if (local.part.left) return absl::OkStatus();
  ASSIGN_OR_RETURN(local.seen.step, frame.Uint("step"));
  local.seen.generation = generation;
  local.seen.state = RankState::kTraining;
  local.last_step = Clock::now();
  return absl::OkStatus();
}

absl::Status AgentState::OnStore(int rank, const api::Frame& frame) {
  ASSIGN_OR_RETURN(StoreCall call, ReadStore(frame));
  workers_->Run(
      [router = router_, link = ranks_[rank].link, call = std::move(call)] {
        link->Post(StoreReplyFrame(call.id, router->FromRank(call.request)));
      });
  return absl::OkStatus();
}

}  // namespace dynatrain::agent
