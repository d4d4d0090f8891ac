// A flag that one thread raises to end the waits of others.
#ifndef TRANSITION_TRANSPORT_CANCELLATION_H_
#define TRANSITION_TRANSPORT_CANCELLATION_H_

#include <atomic>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/unique_fd.h"

namespace dynatrain::transition {

// Thread-safe. Raised at most once; the first reason stays.
class Cancellation {
 public:
  // Dies if the process has no descriptor left.
  Cancellation();

  void Cancel(absl::string_view reason) ABSL_LOCKS_EXCLUDED(mutex_);
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // kCancelled with the reason, or OK.
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Readable once cancelled; never read it.
  int fd() const { return event_.get(); }

 private:
  const UniqueFd event_;
  std::atomic<bool> cancelled_ = false;
  mutable absl::Mutex mutex_;
  std::string reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_CANCELLATION_H_
