// Words for scenarios of Decide in a FakeCluster.
#ifndef OPERATOR_RECONCILE_DECIDE_TESTUTIL_H_
#define OPERATOR_RECONCILE_DECIDE_TESTUTIL_H_

#include <algorithm>
#include <string>

#include "absl/strings/string_view.h"
#include "api/job/job.h"
#include "gtest/gtest.h"
#include "operator/reconcile/fake_cluster.h"

namespace dynatrain::control {

inline constexpr api::AxisRange kAnySize{1, 8};

// Any dp and tp will do.
inline api::JobSpec Spec(int replicas, int min = 1, int max = 8) {
  api::JobSpec spec;
  spec.replicas = replicas;
  spec.elastic.min_replicas = min;
  spec.elastic.max_replicas = max;
  spec.parallelism.dp = kAnySize;
  spec.parallelism.tp = kAnySize;
  return spec;
}

// Runs until `pods` train and nothing moves.
inline void Settle(FakeCluster& cluster, int pods) {
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.Settled(pods); }))
      << cluster.journal() << api::ToJson(cluster.status());
}

// True if there was an event with this reason.
inline bool Saw(const FakeCluster& cluster, absl::string_view reason) {
  return std::any_of(
      cluster.events().begin(), cluster.events().end(),
      [&](const RecordEvent& event) { return event.reason == reason; });
}

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_DECIDE_TESTUTIL_H_
