#include "operator/kube/backoff.h"

#include "base/random_seed.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

const absl::Time kStart = absl::UnixEpoch();

TEST(BackoffTest, DoublesUpToTheCap) {
  Backoff backoff({.jitter = 0});
  absl::Time now = kStart;
  for (double want : {0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0}) {
    const absl::Duration pause = backoff.Next(now);
    EXPECT_DOUBLE_EQ(absl::ToDoubleSeconds(pause), want);
    now += pause;
  }
}

TEST(BackoffTest, JitterOnlyStretches) {
  Backoff backoff({.factor = 1}, TestSeed());
  for (int i = 0; i < 100; ++i) {
    const absl::Duration pause = backoff.Next(kStart);
    EXPECT_GE(pause, absl::Milliseconds(800));
    EXPECT_LE(pause, absl::Milliseconds(1600));
  }
}

TEST(BackoffTest, ResetsBySuccessAndByHealthyTime) {
  Backoff backoff({.jitter = 0});
  backoff.Next(kStart);
  backoff.Reset();
  EXPECT_EQ(backoff.Next(kStart), absl::Milliseconds(800));
  EXPECT_EQ(backoff.Next(kStart), absl::Milliseconds(1600));
  EXPECT_EQ(backoff.Next(kStart + absl::Minutes(3)), absl::Milliseconds(800));
}

}  // namespace
}  // namespace dynatrain::control
