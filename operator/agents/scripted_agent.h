// An agent in this process, for tests: what it says is set by the test, what it
// is told is written down.
#ifndef OPERATOR_AGENTS_SCRIPTED_AGENT_H_
#define OPERATOR_AGENTS_SCRIPTED_AGENT_H_

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "agent/client/agent_api.h"

namespace dynatrain::control {

// Thread-safe.
class ScriptedAgent final : public agent::AgentApi {
 public:
  // ---- What the test sets.
  void Become(agent::Observation observation) {
    absl::MutexLock lock(&mutex_);
    now_ = std::move(observation);
  }
  void Give(agent::Manifest manifest) {
    absl::MutexLock lock(&mutex_);
    manifest_ = std::move(manifest);
  }
  // Commands wait until it is set back.
  void Hold(bool held) {
    absl::MutexLock lock(&mutex_);
    held_ = held;
  }
  void Fail(absl::Status observe, absl::Status command) {
    absl::MutexLock lock(&mutex_);
    observe_error_ = std::move(observe);
    command_error_ = std::move(command);
    ++now_.version;
  }
  // Commands in the order in which they came.
  std::vector<std::string> said() const {
    absl::MutexLock lock(&mutex_);
    return said_;
  }

  // ---- AgentApi.
  absl::StatusOr<agent::Observation> Observe(uint64_t known,
                                             std::chrono::milliseconds wait,
                                             Deadline) override {
    absl::MutexLock lock(&mutex_);
    const auto news = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return cancelled_ || now_.version != known;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&news),
                            absl::FromChrono(std::min(wait, kBeat)));
    if (cancelled_) return absl::CancelledError("stopped");
    if (!observe_error_.ok()) return observe_error_;
    return now_;
  }
  absl::Status Greet(const Fence&, Deadline) override { return Say("Greet"); }
  absl::Status Prepare(const Fence&, const agent::Transition& transition,
                       Deadline) override {
    return Say("Prepare " + transition.id + " " + transition.manifest);
  }
  absl::StatusOr<agent::ArmReply> Arm(const Fence&, uint64_t step,
                                      Deadline) override {
    const absl::Status status = Say("Arm " + std::to_string(step));
    if (!status.ok()) return status;
    return agent::ArmReply();
  }
  absl::Status Go(const Fence&, Deadline) override { return Say("Go"); }
  absl::Status Cancel(const Fence&, Deadline) override { return Say("Cancel"); }
  absl::Status Abort(const Fence&, const std::string& reason,
                     Deadline) override {
    return Say("Abort " + reason);
  }
  absl::Status Commit(const Fence&, Deadline) override { return Say("Commit"); }
  absl::Status Dismiss(const Fence&, const std::string& reason,
                       Deadline) override {
    return Say("Dismiss " + reason);
  }
  absl::StatusOr<agent::Manifest> GetManifest(Deadline) override {
    absl::MutexLock lock(&mutex_);
    if (!command_error_.ok()) return command_error_;
    return manifest_;
  }
  absl::StatusOr<agent::StoreReply> Store(const agent::StoreRequest&,
                                          Deadline) override {
    return absl::UnimplementedError("the operator calls no store");
  }
  void CancelCalls() override {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
  }

 private:
  static constexpr std::chrono::milliseconds kBeat{20};

  absl::Status Say(std::string what) {
    absl::MutexLock lock(&mutex_);
    said_.push_back(std::move(what));
    const auto go_on = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return cancelled_ || !held_;
    };
    mutex_.Await(absl::Condition(&go_on));
    return command_error_;
  }

  mutable absl::Mutex mutex_;
  agent::Observation now_ ABSL_GUARDED_BY(mutex_);
  agent::Manifest manifest_ ABSL_GUARDED_BY(mutex_);
  absl::Status observe_error_ ABSL_GUARDED_BY(mutex_);
  absl::Status command_error_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> said_ ABSL_GUARDED_BY(mutex_);
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_AGENTS_SCRIPTED_AGENT_H_
