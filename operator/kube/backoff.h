// Growing pauses between attempts.
#ifndef OPERATOR_KUBE_BACKOFF_H_
#define OPERATOR_KUBE_BACKOFF_H_

#include <algorithm>
#include <cstdint>
#include <random>

#include "absl/time/time.h"

namespace dynatrain::control {

// client-go's figures for a watch.
struct BackoffOptions {
  absl::Duration initial = absl::Milliseconds(800);
  double factor = 2;
  absl::Duration cap = absl::Seconds(30);
  // Each pause is stretched by a random share up to this, so that clients that
  // lost the same server don't come back together.
  double jitter = 1;
  // So long without a pause means that things are well again.
  absl::Duration healthy_after = absl::Minutes(2);
};

// Thread-compatible.
class Backoff {
 public:
  explicit Backoff(BackoffOptions options = {},
                   uint64_t seed = std::random_device()())
      : options_(options), next_(options.initial), rng_(seed) {}

  // How long to pause before the next attempt.
  absl::Duration Next(absl::Time now) {
    if (now - last_ > options_.healthy_after) Reset();
    std::uniform_real_distribution<double> stretch(0, options_.jitter);
    const absl::Duration pause = next_ * (1 + stretch(rng_));
    next_ = std::min(next_ * options_.factor, options_.cap);
    last_ = now + pause;
    return pause;
  }

  // The last attempt went well.
  void Reset() { next_ = options_.initial; }

 private:
  BackoffOptions options_;
  absl::Duration next_;
  absl::Time last_ = absl::InfiniteFuture();
  std::mt19937_64 rng_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_BACKOFF_H_
