// What the user wishes: the spec of an ElasticTrainingJob as plain values.
//
// Values here have passed ParseJob (api/job/job.h), which checks what the CRD's
// schema and CEL rules check, so that a job that came past an older CRD is
// refused in the same words.
#ifndef API_JOB_SPEC_H_
#define API_JOB_SPEC_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/time/time.h"

namespace dynatrain::api {

// How large one axis of the mesh may be, both ends included.
struct AxisRange {
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  int min = 1;
  int max = 1;

  bool Contains(int size) const { return min <= size && size <= max; }
  bool operator==(const AxisRange&) const = default;
};

// What the user says about the model. 0: not said.
struct ModelFacts {
  int heads = 0;    // tp divides them
  int layers = 0;   // pp is at most this
  int experts = 0;  // ep divides them
  int64_t parameters =
      0;  // elements, tied ones once; checked, never planned by

  bool operator==(const ModelFacts&) const = default;
};

// Constraints on the layout. What the user leaves out is 1, but dp is free: it
// takes what the other axes leave.
struct Parallelism {
  AxisRange dp{1, AxisRange::kNoLimit};
  AxisRange tp;
  AxisRange pp;
  AxisRange ep;
  AxisRange rep;
  ModelFacts model;  // spec.model: constraints too

  bool operator==(const Parallelism&) const = default;
};

// What to do with a wished size for which no layout exists.
enum class InfeasiblePolicy {
  kReject,     // stay at the size that runs
  kRoundDown,  // take the next smaller size that has a layout
};

// What to do when a pod died with state of which no copy is left.
enum class OnStateLost {
  kFail,
  kRestart,  // from `init`, step 0
};

struct ElasticPolicy {
  int min_replicas = 1;
  int max_replicas = 1;
  InfeasiblePolicy infeasible_policy = InfeasiblePolicy::kReject;
  // How long pods that are ready wait for those that are not yet.
  absl::Duration scale_up_delay = absl::Seconds(30);
  // From Planned to all prepared; training goes on meanwhile.
  absl::Duration transition_timeout = absl::Seconds(300);
  // How long after Arm a rank may take to reach the boundary.
  absl::Duration step_timeout = absl::Seconds(120);

  bool operator==(const ElasticPolicy&) const = default;
};

struct JobSpec {
  int replicas = 1;
  int ranks_per_replica = 1;
  ElasticPolicy elastic;
  Parallelism parallelism;
  // The pod template, JSON text as the user wrote it: {"metadata", "spec"}.
  std::string pod_template;
  OnStateLost on_state_lost = OnStateLost::kFail;
  bool suspend = false;

  bool operator==(const JobSpec&) const = default;
};

}  // namespace dynatrain::api

#endif  // API_JOB_SPEC_H_
