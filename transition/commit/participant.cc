#include "transition/commit/participant.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/plan/agreement.h"

namespace dynatrain::transition {

using Kind = RankOrder::Kind;

// ---- fence

absl::Status Participant::CheckTerm(const Fence& fence) {
  if (fence.term < term_) {
    return absl::PermissionDeniedError(
        absl::StrCat("deposed: this command has term ", fence.term,
                     ", but term ", term_, " was seen"));
  }
  term_ = fence.term;
  return absl::OkStatus();
}

absl::Status Participant::CheckFence(const Fence& fence) {
  RETURN_IF_ERROR(CheckTerm(fence));
  if (phase_ == Phase::kNone || fence.generation != generation()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "other generation: this command is for ", fence.generation, ", ",
        phase_ == Phase::kNone
            ? std::string("no transition runs")
            : absl::StrCat("the transition here is to ", generation())));
  }
  if (fence.plan_digest != plan_digest_) {
    return absl::FailedPreconditionError(
        absl::StrCat("other plan: this command has digest '", fence.plan_digest,
                     "', the ranks here have '", plan_digest_, "'"));
  }
  return absl::OkStatus();
}

absl::Status Participant::WrongPhase(absl::string_view command,
                                     absl::string_view wanted) const {
  return absl::FailedPreconditionError(absl::StrCat(
      command, " needs ", wanted, ", but the transition to generation ",
      generation(), " is ", PhaseName(phase_),
      failure_.empty() ? "" : absl::StrCat(" (", failure_, ")")));
}

// ---- commands

absl::Status Participant::Greet(const Fence& fence) { return CheckTerm(fence); }

absl::Status Participant::Prepare(const Fence& fence,
                                  const TransitionTerms& terms, Time now) {
  RETURN_IF_ERROR(CheckTerm(fence));
  if (fence.generation != terms.generation) {
    return absl::InvalidArgumentError(
        absl::StrCat("fence.generation is ", fence.generation,
                     ", the transition's is ", terms.generation));
  }
  if (phase_ != Phase::kNone && terms.generation == generation()) {
    if (terms.id == terms_.id && phase_ != Phase::kAborted) {
      return absl::OkStatus();
    }
    return WrongPhase(absl::StrCat("Prepare of ", terms.id),
                      "a new generation");
  }
  if (terms.generation < generation()) {
    return absl::FailedPreconditionError(
        absl::StrCat("other generation: ", terms.generation,
                     " is over, the last one here was ", generation()));
  }
  if (!IsOver(phase_)) return WrongPhase("Prepare", "the last one to be over");
  const uint64_t wanted = terms.in_source ? terms.source_generation : 0;
  if (committed_generation_ != wanted) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this agent runs generation ", committed_generation_, ", but it is ",
        terms.in_source ? absl::StrCat("in the source world of generation ",
                                       terms.source_generation)
                        : std::string("to join")));
  }
  RETURN_IF_ERROR(CheckRanksFor(terms));
  Reset(terms, Phase::kPreparing);
  prepare_by_ = now + terms.prepare_deadline;
  Order(Kind::kPrepare);
  return absl::OkStatus();
}

absl::Status Participant::CheckRanksFor(const TransitionTerms& terms) const {
  if (!terms.in_source && !terms.in_target) {
    return absl::InvalidArgumentError("this pod is in neither world");
  }
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Part& part = ranks_[rank];
    if (part.exited || (part.finished && terms.in_source)) {
      return absl::FailedPreconditionError(
          absl::StrCat("local rank ", rank,
                       part.exited ? " has exited" : " has finished its data"));
    }
  }
  return absl::OkStatus();
}

absl::Status Participant::Arm(const Fence& fence, uint64_t step) {
  RETURN_IF_ERROR(CheckFence(fence));
  if (!terms_.in_source) return WrongPhase("Arm", "a member of the source");
  const bool same = step == armed_step_;
  if (phase_ >= Phase::kArmed && phase_ <= Phase::kReleased && same) {
    return absl::OkStatus();
  }
  if (phase_ == Phase::kPrepared && arm_ == ArmState::kPending && same) {
    return absl::OkStatus();
  }
  if (phase_ != Phase::kPrepared || arm_ == ArmState::kPending) {
    return WrongPhase(absl::StrCat("Arm at step ", step),
                      absl::StrCat("Prepared without an Arm (there is one at ",
                                   armed_step_, ")"));
  }
  armed_step_ = step;
  arm_ = ArmState::kPending;
  arm_refusal_.clear();
  for (Part& part : ranks_) {
    part.armed = part.stopped = false;
    ++part.unanswered_arms;
  }
  Order(Kind::kArm, step);
  return absl::OkStatus();
}

absl::Status Participant::Go(const Fence& fence, Time now) {
  RETURN_IF_ERROR(CheckFence(fence));
  if (phase_ >= Phase::kTransferring && phase_ <= Phase::kReleased) {
    return absl::OkStatus();
  }
  const Phase wanted = terms_.in_source ? Phase::kArmed : Phase::kPrepared;
  if (phase_ != wanted) return WrongPhase("Go", PhaseName(wanted));
  phase_ = Phase::kTransferring;
  if (terms_.in_source && AllRanks([](const Part& p) { return p.stopped; })) {
    transfer_by_ = now + terms_.transfer_deadline;
  }
  Order(Kind::kGo);
  return absl::OkStatus();
}

absl::Status Participant::Cancel(const Fence& fence) {
  RETURN_IF_ERROR(CheckFence(fence));
  if (phase_ == Phase::kArmed || arm_ == ArmState::kPending) {
    RefuseArm("cancelled");
    return absl::OkStatus();
  }
  if (phase_ == Phase::kPrepared) return absl::OkStatus();
  return WrongPhase("Cancel", "Armed (after Go only Abort stops it)");
}

absl::Status Participant::Abort(const Fence& fence, absl::string_view reason) {
  RETURN_IF_ERROR(CheckTerm(fence));
  if (fence.generation < generation() ||
      (fence.generation > generation() && !IsOver(phase_))) {
    return absl::FailedPreconditionError(
        absl::StrCat("other generation: Abort is for ", fence.generation,
                     ", the transition here is to ", generation()));
  }
  if (fence.generation > generation()) {
    Reset({.generation = fence.generation}, Phase::kAborted);
    failure_ = reason.empty() ? "aborted before it came" : std::string(reason);
    return absl::OkStatus();
  }
  if (phase_ == Phase::kAborted) return absl::OkStatus();
  if (phase_ == Phase::kNone || phase_ >= Phase::kCommitted) {
    if (phase_ != Phase::kFailed) return WrongPhase("Abort", "no Commit");
  }
  if (!fence.plan_digest.empty()) RETURN_IF_ERROR(CheckFence(fence));
  if (phase_ != Phase::kFailed) Fail(std::string(reason));
  phase_ = Phase::kAborted;
  return absl::OkStatus();
}

absl::Status Participant::Commit(const Fence& fence) {
  RETURN_IF_ERROR(CheckFence(fence));
  if (phase_ == Phase::kCommitted || phase_ == Phase::kReleased) {
    return absl::OkStatus();
  }
  if (phase_ != Phase::kVerified) return WrongPhase("Commit", "Verified");
  phase_ = Phase::kCommitted;
  committed_generation_ = generation();
  Order(Kind::kCommit);
  ReleaseIfAll();
  return absl::OkStatus();
}

// ---- reports

bool Participant::Concerns(int rank, uint64_t generation,
                           absl::string_view what, absl::Status* status) const {
  const bool held = phase_ != Phase::kNone && generation == this->generation();
  *status =
      held || generation < this->generation()
          ? absl::OkStatus()
          : Nonsense(rank, absl::StrCat(what, " generation ", generation));
  return held && phase_ != Phase::kFailed && phase_ != Phase::kAborted;
}

absl::Status Participant::Nonsense(int rank, absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(
      "local rank ", rank, " said '", what, "', but the transition to ",
      generation(), " is ", PhaseName(phase_)));
}

bool Participant::AgreesOn(int rank, absl::string_view plan_digest) {
  if (plan_digest_.empty()) {
    plan_digest_ = std::string(plan_digest);
    planned_first_ = rank;
  }
  if (plan_digest == plan_digest_) return true;
  Fail(absl::StrCat(
      "local rank ", rank, " has another plan than local rank ", planned_first_,
      "; they differ in: ", AgreementDifference(plan_digest, plan_digest_)));
  return false;
}

absl::Status Participant::RankPlanned(int rank, uint64_t generation,
                                      absl::string_view plan_digest) {
  absl::Status status;
  if (!Concerns(rank, generation, "planned", &status)) return status;
  if (phase_ != Phase::kPreparing || ranks_[rank].prepared) {
    return Nonsense(rank, "planned");
  }
  if (plan_digest.empty()) return Nonsense(rank, "planned without a digest");
  AgreesOn(rank, plan_digest);
  return absl::OkStatus();
}

absl::Status Participant::RankPrepared(int rank, uint64_t generation,
                                       absl::string_view plan_digest) {
  absl::Status status;
  if (!Concerns(rank, generation, "prepared", &status)) return status;
  if (phase_ != Phase::kPreparing || ranks_[rank].prepared) {
    return Nonsense(rank, "prepared");
  }
  if (plan_digest.empty()) return Nonsense(rank, "prepared without a digest");
  if (!AgreesOn(rank, plan_digest)) return absl::OkStatus();
  ranks_[rank].prepared = true;
  if (AllRanks([](const Part& p) { return p.prepared; })) {
    phase_ = Phase::kPrepared;
    prepare_by_.reset();
  }
  return absl::OkStatus();
}

absl::Status Participant::RankArmed(int rank, uint64_t generation,
                                    uint64_t step, bool ok, uint64_t seen) {
  absl::Status status;
  if (!Concerns(rank, generation, "armed", &status)) return status;
  Part& part = ranks_[rank];
  if (part.unanswered_arms == 0) return Nonsense(rank, "armed");
  // Only the answer to the last Arm counts: an older one was taken back.
  if (--part.unanswered_arms > 0 || arm_ != ArmState::kPending) return status;
  if (step != armed_step_) return Nonsense(rank, "armed at another step");
  if (!ok) {
    RefuseArm(absl::StrCat("local rank ", rank, " is past step ", step,
                           ": it has completed ", seen));
    return status;
  }
  part.armed = true;
  if (AllRanks([](const Part& p) { return p.armed; })) {
    arm_ = ArmState::kArmed;
    phase_ = Phase::kArmed;
  }
  return status;
}

absl::Status Participant::RankStopped(int rank, uint64_t generation,
                                      uint64_t step, Time now) {
  absl::Status status;
  if (!Concerns(rank, generation, "stopped at", &status)) return status;
  Part& part = ranks_[rank];
  if (!part.prepared || part.verified) return Nonsense(rank, "stopped");
  if (!terms_.in_source) return status;
  // It may cross a Cancel, and the Arm after it, which is for a later step;
  // then it is on its way again.
  if (!part.armed || step < armed_step_) return status;
  if (step != armed_step_) {
    return Nonsense(
        rank, absl::StrCat("stopped at ", step, ", armed at ", armed_step_));
  }
  part.stopped = true;
  if (phase_ == Phase::kTransferring &&
      AllRanks([](const Part& p) { return p.stopped; })) {
    transfer_by_ = now + terms_.transfer_deadline;
  }
  return status;
}

absl::Status Participant::RankVerified(int rank, uint64_t generation) {
  absl::Status status;
  if (!Concerns(rank, generation, "verified", &status)) return status;
  if (phase_ != Phase::kTransferring || ranks_[rank].verified) {
    return Nonsense(rank, "verified");
  }
  ranks_[rank].verified = true;
  if (AllRanks([](const Part& p) { return p.verified; })) {
    phase_ = Phase::kVerified;
    transfer_by_.reset();
  }
  return status;
}

absl::Status Participant::RankReleased(int rank, uint64_t generation) {
  absl::Status status;
  if (!Concerns(rank, generation, "resumed or left for", &status)) {
    return status;
  }
  if (phase_ != Phase::kCommitted) return Nonsense(rank, "resumed or left");
  ranks_[rank].released = true;
  ReleaseIfAll();
  return status;
}

absl::Status Participant::RankFailed(int rank, uint64_t generation,
                                     absl::string_view reason) {
  absl::Status status;
  if (!Concerns(rank, generation, "failed in", &status)) return status;
  if (phase_ >= Phase::kVerified || ranks_[rank].verified) {
    return Nonsense(rank, absl::StrCat("failed after verified: ", reason));
  }
  Fail(absl::StrCat("local rank ", rank, ": ", reason));
  return status;
}

void Participant::RankFinished(int rank) {
  ranks_[rank].finished = true;
  if (phase_ == Phase::kCommitted) {
    ranks_[rank].released = true;
    ReleaseIfAll();
  } else if (terms_.in_source && InProgress()) {
    Fail(absl::StrCat("local rank ", rank, " has finished its data"));
  }
}

void Participant::RankExited(int rank, absl::string_view how) {
  Part& part = ranks_[rank];
  if (part.exited) return;
  part.exited = true;
  const std::string reason = absl::StrCat("local rank ", rank, " ", how);
  if (phase_ == Phase::kVerified) {
    failure_ = reason;  // in doubt all the same
  } else if (phase_ == Phase::kCommitted) {
    part.released = true;
    ReleaseIfAll();
  } else if (InProgress()) {
    Fail(reason);
  }
}

// ---- time

void Participant::Tick(Time now) {
  if (prepare_by_ && now >= *prepare_by_) {
    Fail(absl::StrCat("not prepared within ", terms_.prepare_deadline.count(),
                      " ms"));
  } else if (transfer_by_ && now >= *transfer_by_) {
    Fail(absl::StrCat("not verified within ", terms_.transfer_deadline.count(),
                      " ms after all local ranks had stopped"));
  }
}

std::optional<Participant::Time> Participant::next_deadline() const {
  return prepare_by_ ? prepare_by_ : transfer_by_;
}

// ---- parts of the above

bool Participant::InProgress() const {
  return phase_ >= Phase::kPreparing && phase_ <= Phase::kTransferring;
}

template <typename Condition>
bool Participant::AllRanks(Condition condition) const {
  return std::all_of(ranks_.begin(), ranks_.end(), condition);
}

void Participant::Order(Kind kind, uint64_t step) {
  orders_.push_back({kind, generation(), step});
}

std::vector<RankOrder> Participant::TakeOrders() {
  return std::exchange(orders_, {});
}

void Participant::Reset(const TransitionTerms& terms, Phase phase) {
  terms_ = terms;
  phase_ = phase;
  plan_digest_.clear();
  failure_.clear();
  prepare_by_.reset();
  transfer_by_.reset();
  Disarm();
  arm_ = ArmState::kNone;
  arm_refusal_.clear();
  for (Part& part : ranks_) {
    part.prepared = part.verified = part.released = false;
    part.unanswered_arms = 0;
  }
}

void Participant::Disarm() {
  armed_step_ = 0;
  for (Part& part : ranks_) part.armed = part.stopped = false;
}

void Participant::RefuseArm(std::string reason) {
  if (arm_ == ArmState::kPending || phase_ == Phase::kArmed) {
    Order(Kind::kCancel);
  }
  Disarm();
  phase_ = Phase::kPrepared;
  arm_ = ArmState::kRefused;
  arm_refusal_ = std::move(reason);
}

std::vector<int> Participant::unanswered() const {
  std::vector<int> ranks;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].unanswered_arms > 0) ranks.push_back(rank);
  }
  return ranks;
}

void Participant::GiveUpArm(absl::string_view reason) {
  if (arm_ == ArmState::kPending) RefuseArm(std::string(reason));
}

void Participant::Fail(std::string reason) {
  Order(Kind::kAbort);
  phase_ = Phase::kFailed;
  failure_ = std::move(reason);
  prepare_by_.reset();
  transfer_by_.reset();
  if (arm_ == ArmState::kPending) {
    arm_ = ArmState::kRefused;
    arm_refusal_ = failure_;
  }
}

void Participant::ReleaseIfAll() {
  if (phase_ == Phase::kCommitted &&
      AllRanks([](const Part& p) { return p.released || p.exited; })) {
    phase_ = Phase::kReleased;
  }
}

std::string Participant::DebugString() const {
  std::string text =
      absl::StrCat("term=", term_, " committed=", committed_generation_,
                   " generation=", generation(), " id=", terms_.id,
                   " phase=", PhaseName(phase_), " step=", armed_step_,
                   " arm=", static_cast<int>(arm_), " ranks=");
  for (const Part& p : ranks_) {
    absl::StrAppend(&text, p.prepared ? "p" : "", p.armed ? "a" : "",
                    p.stopped ? "s" : "", p.verified ? "v" : "",
                    p.released ? "r" : "", p.finished ? "f" : "",
                    p.exited ? "x" : "", p.unanswered_arms, ",");
  }
  return text;
}

}  // namespace dynatrain::transition
