#include "operator/kube/informer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "operator/kube/api_error.h"
#include "operator/kube/log_text.h"
#include "operator/kube/stop_sleep.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {

Informer::Informer(KubeClient* client, Resource resource, Selection selection,
                   std::function<void(const ObjectChange&)> on_change,
                   InformerOptions options)
    : client_(client),
      resource_(std::move(resource)),
      selection_(std::move(selection)),
      on_change_(std::move(on_change)),
      options_(std::move(options)),
      cache_(options_.group_of),
      backoff_(options_.backoff),
      rng_(std::random_device()()) {}

Informer::~Informer() = default;  // jthread: request_stop, join

void Informer::Start() {
  thread_ = std::jthread([this](std::stop_token stop) { Run(stop); });
}

void Informer::ApplyOwnWrite(const Json& object) {
  Json trimmed = object;
  if (options_.trim != nullptr) options_.trim(trimmed);
  Deliver(cache_.ApplyOwnWrite(trimmed));
}

bool Informer::synced() const {
  absl::MutexLock lock(&mutex_);
  return synced_;
}

int Informer::lists() const {
  absl::MutexLock lock(&mutex_);
  return lists_;
}

absl::Status Informer::WaitForSync(absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  if (mutex_.AwaitWithTimeout(absl::Condition(&synced_), timeout)) {
    return absl::OkStatus();
  }
  return absl::DeadlineExceededError(absl::StrCat(
      "no list of ", resource_.plural, " after ", absl::FormatDuration(timeout),
      "; last error: ", last_error_.ToString()));
}

void Informer::Deliver(const std::vector<ObjectChange>& changes) {
  for (const ObjectChange& change : changes) on_change_(change);
}

void Informer::Note(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  last_error_ = status;
}

absl::Status Informer::ListOnce() {
  // "": the newest there is. From the server's cache ("0") a restarted operator
  // could get a state from before its own last write.
  absl::StatusOr<ObjectList> list = client_->List(resource_, selection_, "");
  if (!list.ok()) return list.status();
  if (options_.trim != nullptr) {
    for (Json& item : list->items) options_.trim(item);
  }
  const std::vector<ObjectChange> changes = cache_.Replace(*std::move(list));
  {
    absl::MutexLock lock(&mutex_);
    synced_ = true;
    ++lists_;
  }
  Deliver(changes);
  return absl::OkStatus();
}

absl::Status Informer::WatchOnce(std::stop_token stop, int& events) {
  std::uniform_int_distribution<int64_t> seconds(
      absl::ToInt64Seconds(options_.min_watch),
      absl::ToInt64Seconds(options_.max_watch));
  const WatchOptions watch = {.resource_version = cache_.resource_version(),
                              .server_timeout = absl::Seconds(seconds(rng_)),
                              .silence_timeout = options_.silence};
  return client_->Watch(
      resource_, selection_, watch,
      [&](WatchEvent event) {
        ++events;
        if (options_.trim != nullptr) options_.trim(event.object);
        Deliver(cache_.Apply(std::move(event)));
      },
      stop);
}

absl::Duration Informer::AfterWatch(const absl::Status& status, int events,
                                    absl::Duration lasted) {
  if (events > 0) {
    backoff_.Reset();
    too_large_in_a_row_ = 0;
  }
  const std::optional<ApiError> error = GetApiError(status);
  const absl::Duration at_least =
      error.has_value() && error->retry_after.has_value()
          ? *error->retry_after
          : absl::ZeroDuration();
  if (status.ok() && (events > 0 || lasted >= options_.very_short)) {
    return absl::ZeroDuration();
  }
  // Silence has cost its time already.
  if (absl::IsDeadlineExceeded(status)) return absl::ZeroDuration();
  if (absl::IsOutOfRange(status)) {
    must_list_ = true;
    // The first list is made at once; a server that forgets what it has just
    // listed must not be asked in a loop.
    return events > 0 || lasted >= options_.very_short
               ? absl::ZeroDuration()
               : backoff_.Next(absl::Now());
  }
  // Another API server is ahead of this one: it will catch up, or has lost
  // its state.
  if (error.has_value() && error->IsResourceVersionTooLarge() &&
      ++too_large_in_a_row_ > 1) {
    must_list_ = true;
  }
  return std::max(at_least, backoff_.Next(absl::Now()));
}

void Informer::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    absl::Status status;
    absl::Duration pause = absl::ZeroDuration();
    if (must_list_) {
      status = ListOnce();
      must_list_ = !status.ok();
      if (!status.ok()) pause = backoff_.Next(absl::Now());
    } else {
      const absl::Time start = absl::Now();
      int events = 0;
      status = WatchOnce(stop, events);
      pause = AfterWatch(status, events, absl::Now() - start);
    }
    if (!status.ok() && !stop.stop_requested()) {
      Note(status);
      spdlog::warn(
          "msg=\"list or watch ended\" resource={} retry_s={:.1f} error=\"{}\"",
          resource_.plural, absl::ToDoubleSeconds(pause), LogText(status));
    }
    if (pause > absl::ZeroDuration()) SleepUnlessStopped(pause, stop);
  }
}

}  // namespace dynatrain::control
