// A pause that a stop request ends.
#ifndef OPERATOR_KUBE_STOP_SLEEP_H_
#define OPERATOR_KUBE_STOP_SLEEP_H_

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "absl/time/time.h"

namespace dynatrain::control {

// Returns false as soon as `stop` is requested, true after `duration`.
inline bool SleepUnlessStopped(absl::Duration duration, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock<std::mutex> lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoNanoseconds(duration),
                [&] { return stop.stop_requested(); });
  return !stop.stop_requested();
}

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_STOP_SLEEP_H_
