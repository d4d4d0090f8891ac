// PlanRuns: how the bytes that a process exchanges lie in its memory and in its
// peers': as few descriptors, each some contiguous bytes and up to a few loops
// (vps::StridedRun), never as rows. For people, and for who chooses between
// copying to staging and sending where they lie.
//
// It follows from the layouts: local tensors are row-major, and what a layout
// stores in one buffer is one memory. Regions that follow each other in memory
// at both ends are one descriptor, so thousands of tiny tensors that lie in
// flat buffers are few.
#ifndef TRANSITION_SCHEDULE_PLAN_RUNS_H_
#define TRANSITION_SCHEDULE_PLAN_RUNS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"

namespace dynatrain::transition {

enum class RunClass {
  kContiguous = 0,     // at both ends: sent and received where it lies
  kStridedSource = 1,  // the sender gathers rows, the receiver doesn't scatter
  kStridedTarget = 2,  // the other way round
  kStridedBoth = 3,
};
inline constexpr int kNumRunClasses = 4;

// "contiguous", "strided source", "strided target", "strided both".
absl::string_view RunClassName(RunClass run_class);

struct RunCounts {
  int64_t regions = 0;      // routes of the plan
  int64_t descriptors = 0;  // at most as many
  int64_t bytes = 0;
  // What the descriptors stand for: contiguous rows in memory.
  int64_t source_rows = 0;
  int64_t target_rows = 0;

  RunCounts& operator+=(const RunCounts& other);
  friend bool operator==(const RunCounts&, const RunCounts&) = default;
};

// By RunClass.
struct RunTable {
  std::array<RunCounts, kNumRunClasses> classes;

  RunCounts& operator[](RunClass run_class) {
    return classes[static_cast<size_t>(run_class)];
  }
  const RunCounts& operator[](RunClass run_class) const {
    return classes[static_cast<size_t>(run_class)];
  }
  RunCounts total() const;
  RunTable& operator+=(const RunTable& other);
  friend bool operator==(const RunTable&, const RunTable&) = default;
};

struct PeerRuns {
  Process peer;
  RunTable send;
  RunTable receive;
};

struct PlanRuns {
  RunTable local;               // what is copied, not what is adopted
  std::vector<PeerRuns> peers;  // as ProcessPlan::peers
  RunTable send;                // of all peers
  RunTable receive;
};

// Of one process's part of a plan. Both ends of an exchange count the same.
// O(routes + regions of the ranks' tensors).
// REQUIRES: the plan is of the input.
PlanRuns RunsOf(const PlanInput& input, const ProcessPlan& plan);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PLAN_RUNS_H_
