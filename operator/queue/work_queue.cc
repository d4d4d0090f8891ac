#include "operator/queue/work_queue.h"

#include <algorithm>

namespace dynatrain::control {

void WorkQueue::AddLocked(const std::string& key) {
  if (!waiting_.insert(key).second) return;
  // A taken key becomes ready when its worker is done.
  if (taken_.contains(key)) return;
  ready_.push_back(key);
  changed_.Signal();
}

void WorkQueue::Add(const std::string& key) {
  absl::MutexLock lock(&mutex_);
  AddLocked(key);
}

void WorkQueue::AddAfter(const std::string& key, absl::Duration delay) {
  const absl::Time due = absl::Now() + delay;
  absl::MutexLock lock(&mutex_);
  const auto [it, added] = later_.emplace(key, due);
  if (!added && it->second <= due) return;
  it->second = due;
  // All sleep until a time that may now be too late; one has to look again.
  changed_.Signal();
}

void WorkQueue::AddAfterFailure(const std::string& key) {
  absl::Duration pause = options_.first_pause;
  {
    absl::MutexLock lock(&mutex_);
    const int failures = failures_[key]++;
    for (int i = 0; i < failures && pause < options_.longest_pause; ++i) {
      pause *= 2;
    }
  }
  AddAfter(key, std::min(pause, options_.longest_pause));
}

void WorkQueue::Forget(const std::string& key) {
  absl::MutexLock lock(&mutex_);
  failures_.erase(key);
}

absl::Time WorkQueue::Promote(absl::Time now) {
  absl::Time next = absl::InfiniteFuture();
  for (auto it = later_.begin(); it != later_.end();) {
    if (it->second > now) {
      next = std::min(next, it->second);
      ++it;
      continue;
    }
    AddLocked(it->first);
    it = later_.erase(it);
  }
  return next;
}

std::optional<std::string> WorkQueue::Take() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    if (shut_down_) return std::nullopt;
    const absl::Time next = Promote(absl::Now());
    if (!ready_.empty()) break;
    changed_.WaitWithDeadline(&mutex_, next);
  }
  std::string key = std::move(ready_.front());
  ready_.pop_front();
  waiting_.erase(key);
  taken_.insert(key);
  // Whoever slept until the next due key may be this worker; hand that on.
  changed_.Signal();
  return key;
}

void WorkQueue::Done(const std::string& key) {
  absl::MutexLock lock(&mutex_);
  taken_.erase(key);
  if (!waiting_.contains(key)) return;
  ready_.push_back(key);
  changed_.Signal();
}

void WorkQueue::ShutDown() {
  absl::MutexLock lock(&mutex_);
  shut_down_ = true;
  changed_.SignalAll();
}

size_t WorkQueue::ready() const {
  absl::MutexLock lock(&mutex_);
  return ready_.size();
}

}  // namespace dynatrain::control
