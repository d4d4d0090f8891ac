// WholeRuns: how all that moves lies in memory, over the whole world and for
// each pair of processes: schedule/plan_runs.h of every process's part. For
// people; a process that carries a plan out looks at its own part alone.
#ifndef TRANSITION_PREVIEW_WHOLE_RUNS_H_
#define TRANSITION_PREVIEW_WHOLE_RUNS_H_

#include <cstdint>
#include <vector>

#include "transition/plan/plan_input.h"
#include "transition/schedule/plan_runs.h"

namespace dynatrain::transition {

struct PairRuns {
  int sender = 0;  // union indices (PlanInput::num_processes)
  int receiver = 0;
  RunTable runs;
  friend bool operator==(const PairRuns&, const PairRuns&) = default;
};

struct WholeRuns {
  RunTable copied;              // inside processes, without what is adopted
  RunTable moved;               // the sum of the pairs
  std::vector<PairRuns> pairs;  // those with traffic, ascending

  // Of any pair; 0 if nothing moves.
  int64_t max_descriptors_of_a_pair() const;
};

// Plans every process's part: O(all routes).
// REQUIRES: the source world is not empty.
WholeRuns ComputeWholeRuns(const PlanInput& input);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_WHOLE_RUNS_H_
