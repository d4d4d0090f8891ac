#include "operator/agents/agent_link.h"

#include <utility>

#include "absl/time/clock.h"
#include "operator/kube/log_text.h"
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
  observes_done_ = observes_begun_;
  const bool news =
      !last_.has_value() || last_->observation.version != observation.version;
  last_ = AgentSeen{std::move(observation), absl::Now()};
  const bool again = sent_.wanted_again && !TooEarlyFor(sent_.key);
  if (again) sent_.wanted_again = false;
  return news || again;
}

void AgentLink::Observe(std::stop_token stop) {
  uint64_t known = 0;
  bool answering = false;
  while (!stop.stop_requested()) {
    {
      absl::MutexLock lock(&mutex_);
      ++observes_begun_;
    }
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
                   identity_.serial, identity_.address, LogText(seen.status()));
      events_.on_change();
    }
    SleepUnlessStopped(options_.retry, stop);
  }
}

bool AgentLink::TooEarlyFor(const std::string& key) const {
  if (sent_.key != key) return false;
  return !sent_.answered || observes_done_ < sent_.seen_after ||
         absl::Now() < sent_.not_before;
}

bool AgentLink::Send(AgentCommand command) {
  absl::MutexLock lock(&mutex_);
  if (TooEarlyFor(command.key)) {
    sent_.wanted_again = true;
    return false;
  }
  sent_ = Last{.key = command.key};
  queue_.push_back(std::move(command));
  return true;
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
      under_way_ = true;
    }
    SendOne(command);
  }
}

void AgentLink::SendOne(const AgentCommand& command) {
  const absl::Status status =
      command.send(*api_, Deadline::After(options_.command_deadline));
  {
    absl::MutexLock lock(&mutex_);
    under_way_ = false;
    if (stopping_) return;
    if (sent_.key == command.key) {
      sent_.answered = true;
      // The one that is under way may have been answered before the command.
      if (status.ok()) sent_.seen_after = observes_begun_ + 1;
      if (!status.ok()) sent_.not_before = absl::Now() + options_.retry;
    }
  }
  if (status.ok()) return;
  spdlog::warn("msg=\"command failed\" serial={} command=\"{}\" error=\"{}\"",
               identity_.serial, command.text, LogText(status));
  events_.on_failure();
}

}  // namespace dynatrain::control
