#include "operator/agents/agent_link.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "operator/kube/stop_sleep.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {

AgentLink::AgentLink(AgentIdentity identity,
                     std::unique_ptr<agent::AgentApi> api, AgentEvents events,
                     AgentLinkOptions options)
    : identity_(std::move(identity)),
      api_(std::move(api)),
      events_(std::move(events)),
      options_(options),
      observer_([this](std::stop_token stop) { Observe(stop); }),
      sender_([this] { SendQueued(); }) {}

AgentLink::~AgentLink() {
  observer_.request_stop();
  api_->CancelCalls();
  absl::MutexLock lock(&mutex_);
  stopping_ = true;
}

std::optional<AgentSeen> AgentLink::last() const {
  absl::MutexLock lock(&mutex_);
  return last_;
}

bool AgentLink::Keep(agent::Observation observation) {
  absl::MutexLock lock(&mutex_);
  const bool news =
      !last_.has_value() || last_->observation.version != observation.version;
  last_ = AgentSeen{std::move(observation), absl::Now()};
  return news;
}

void AgentLink::Observe(std::stop_token stop) {
  uint64_t known = 0;
  bool answering = false;
  while (!stop.stop_requested()) {
    absl::StatusOr<agent::Observation> seen = api_->Observe(
        known, options_.observe_wait,
        Deadline::After(options_.observe_wait + options_.observe_slack));
    if (stop.stop_requested()) return;
    if (seen.ok() && (seen->job_uid != identity_.job_uid ||
                      seen->serial != identity_.serial)) {
      seen = absl::FailedPreconditionError(
          "the agent there belongs to another pod: job uid " + seen->job_uid +
          ", serial " + std::to_string(seen->serial));
    }
    if (seen.ok()) {
      known = seen->version;
      answering = true;
      if (Keep(*std::move(seen))) events_.on_change();
      continue;
    }
    if (std::exchange(answering, false)) {
      spdlog::warn("msg=\"agent silent\" serial={} address={} error=\"{}\"",
                   identity_.serial, identity_.address,
                   seen.status().ToString());
      events_.on_change();
    }
    SleepUnlessStopped(options_.retry, stop);
  }
}

void AgentLink::Send(AgentCommand command) {
  absl::MutexLock lock(&mutex_);
  const bool there =
      under_way_ == command.text ||
      std::any_of(queue_.begin(), queue_.end(), [&](const AgentCommand& other) {
        return other.text == command.text;
      });
  if (!there) queue_.push_back(std::move(command));
}

void AgentLink::Flush(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(this, &AgentLink::Idle), timeout);
}

void AgentLink::SendQueued() {
  const auto work = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty();
  };
  while (true) {
    AgentCommand command;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&work));
      if (stopping_) return;
      command = std::move(queue_.front());
      queue_.pop_front();
      under_way_ = command.text;
    }
    const absl::Status status =
        command.send(*api_, Deadline::After(options_.command_deadline));
    {
      absl::MutexLock lock(&mutex_);
      under_way_.clear();
      if (stopping_) return;
    }
    if (status.ok()) continue;
    spdlog::warn("msg=\"command failed\" serial={} command=\"{}\" error=\"{}\"",
                 identity_.serial, command.text, status.ToString());
    events_.on_failure();
  }
}

}  // namespace dynatrain::control
