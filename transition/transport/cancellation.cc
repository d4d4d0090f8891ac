#include "transition/transport/cancellation.h"

#include <sys/eventfd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace dynatrain::transition {

Cancellation::Cancellation() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_.valid()) {
    perror("dynatrain: eventfd for a cancellation");
    abort();
  }
}

void Cancellation::Cancel(absl::string_view reason) {
  {
    absl::MutexLock lock(&mutex_);
    if (cancelled_.load(std::memory_order_relaxed)) return;
    reason_ = std::string(reason);
    cancelled_.store(true, std::memory_order_release);
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(event_.get(), &one, sizeof(one));
}

absl::Status Cancellation::status() const {
  if (!cancelled()) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  return absl::CancelledError(reason_);
}

}  // namespace dynatrain::transition
