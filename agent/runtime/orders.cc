#include "agent/runtime/orders.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"

namespace dynatrain::runtime {
namespace {

constexpr size_t kWorldsRemembered = 8;

absl::Duration Left(Deadline deadline) {
  if (deadline.never()) return absl::InfiniteDuration();
  return absl::FromChrono(deadline.when() - Deadline::Clock::now());
}

}  // namespace

Orders::Transition* Orders::Find(uint64_t generation) {
  const auto it = transitions_.find(generation);
  return it == transitions_.end() ? nullptr : &it->second;
}

absl::Status Orders::AliveLocked() { return end_; }

absl::Status Orders::Alive() {
  absl::MutexLock lock(&mutex_);
  return AliveLocked();
}

void Orders::Prepare(uint64_t generation,
                     std::optional<uint64_t> source_generation) {
  absl::MutexLock lock(&mutex_);
  Transition& transition = transitions_[generation];
  transition = Transition();
  transition.source_generation = source_generation;
  transition.cancellation = std::make_shared<Cancellation>();
  if (!end_.ok()) transition.cancellation->Cancel(end_.message());
}

Orders::ArmAnswer Orders::Arm(uint64_t generation, uint64_t step) {
  absl::MutexLock lock(&mutex_);
  Transition* transition = Find(generation);
  if (transition == nullptr || !transition->source_generation.has_value() ||
      transition->abort) {
    return {};
  }
  const auto last = last_step_.find(*transition->source_generation);
  const uint64_t seen = last == last_step_.end() ? 0 : last->second;
  if (transition->armed_step == step) return {true, seen};
  // A step that is complete can't be stopped after any more. Step 0 can be
  // armed only before the first boundary.
  if (last != last_step_.end() && seen >= step) return {false, seen};
  transition->armed_step = step;
  transition->arm_answered = false;
  return {true, seen};
}

void Orders::ArmAnswered(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  if (Transition* transition = Find(generation)) {
    transition->arm_answered = true;
  }
}

void Orders::Go(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  if (Transition* transition = Find(generation)) transition->go = true;
}

void Orders::Cancel(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  Transition* transition = Find(generation);
  if (transition == nullptr || transition->verified) return;
  // Who hasn't stopped has nothing to take back, and a joiner goes on waiting.
  transition->cancel = transition->stopped || transition->moving;
  transition->armed_step.reset();
  transition->go = false;
  if (transition->moving) transition->cancellation->Cancel("cancelled");
}

void Orders::Abort(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  Transition* transition = Find(generation);
  if (transition == nullptr || transition->commit) return;
  transition->abort = true;
  transition->armed_step.reset();
  transition->cancellation->Cancel("the transition was aborted");
}

void Orders::Commit(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  Transition* transition = Find(generation);
  if (transition != nullptr && !transition->abort) transition->commit = true;
}

void Orders::Dismiss(absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  if (!end_.ok()) return;
  end_ = absl::CancelledError(absl::StrCat("dismissed: ", reason));
  for (auto& [generation, transition] : transitions_) {
    transition.cancellation->Cancel(end_.message());
  }
}

void Orders::Lose(absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  if (!end_.ok()) return;
  end_ = absl::UnavailableError(absl::StrCat("the agent is gone: ", reason));
  for (auto& [generation, transition] : transitions_) {
    transition.cancellation->Cancel(end_.message());
  }
}

BoundaryAction Orders::Boundary(uint64_t source_generation, uint64_t step) {
  absl::MutexLock lock(&mutex_);
  last_step_[source_generation] = step;
  if (last_step_.size() > kWorldsRemembered) {
    last_step_.erase(last_step_.begin());
  }
  if (absl::IsCancelled(end_)) return BoundaryAction::kDismiss;
  for (auto& [generation, transition] : transitions_) {
    if (transition.source_generation == source_generation &&
        transition.armed_step == step) {
      transition.stopped = true;
      transition.cancel = false;  // of an earlier stop, if nobody heard it
      return BoundaryAction::kStop;
    }
  }
  return BoundaryAction::kContinue;
}

template <typename Ready>
absl::Status Orders::Await(uint64_t generation, absl::string_view what,
                           Deadline deadline, Ready ready) {
  auto over = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const Transition* transition = Find(generation);
    return transition == nullptr || !end_.ok() || ready(*transition);
  };
  const bool in_time =
      mutex_.AwaitWithTimeout(absl::Condition(&over), Left(deadline));
  if (Find(generation) == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no transition to generation ", generation));
  }
  RETURN_IF_ERROR(AliveLocked());
  if (in_time) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat("no word from the agent while waiting for ", what,
                   " of generation ", generation));
}

absl::StatusOr<std::optional<uint64_t>> Orders::BeginTransfer(
    uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  const Transition* transition = Find(generation);
  if (transition == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no transition to generation ", generation));
  }
  if (!transition->source_generation.has_value()) {
    RETURN_IF_ERROR(AliveLocked());
    return std::optional<uint64_t>();
  }
  if (!transition->stopped) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the transition to generation ", generation,
        " hasn't stopped this process: dt_boundary didn't say DT_STOP"));
  }
  RETURN_IF_ERROR(Await(generation, "the answer to arm", Deadline::Never(),
                        [](const Transition& t) {
                          return t.arm_answered || t.cancel || t.abort;
                        }));
  return std::optional<uint64_t>(
      last_step_[*Find(generation)->source_generation]);
}

absl::StatusOr<Orders::Word> Orders::WaitForGo(uint64_t generation,
                                               Deadline deadline) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Await(generation, "go", deadline, [](const Transition& t) {
    return t.go || t.cancel || t.abort;
  }));
  Transition& transition = *Find(generation);
  if (transition.abort) return Word::kAbort;
  if (transition.cancel) {
    transition.cancel = transition.stopped = false;
    return Word::kCancel;
  }
  transition.moving = true;
  return Word::kGo;
}

bool Orders::Verified(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  Transition* transition = Find(generation);
  if (transition == nullptr || transition->abort || transition->cancel) {
    return false;
  }
  transition->verified = true;
  return true;
}

absl::StatusOr<Orders::Word> Orders::WaitForOutcome(uint64_t generation,
                                                    Deadline deadline) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Await(
      generation, "commit or abort", deadline,
      [](const Transition& t) { return t.commit || t.abort || t.cancel; }));
  const Transition& transition = *Find(generation);
  if (!transition.commit) return Word::kAbort;
  // The new world begins where the old one ended.
  if (transition.source_generation.has_value()) {
    last_step_[generation] = last_step_[*transition.source_generation];
  }
  return Word::kCommit;
}

std::optional<Orders::Word> Orders::TakenBack(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  Transition* transition = Find(generation);
  if (transition == nullptr || transition->abort) return Word::kAbort;
  if (!transition->cancel) return std::nullopt;
  transition->cancel = transition->stopped = transition->moving = false;
  return Word::kCancel;
}

std::shared_ptr<Orders::Cancellation> Orders::cancellation(
    uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  const Transition* transition = Find(generation);
  return transition == nullptr ? nullptr : transition->cancellation;
}

void Orders::Drop(uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  transitions_.erase(generation);
}

}  // namespace dynatrain::runtime
