// ByteMatrix: who sends how much to whom over the whole plan, for people and
// for bounds. Only the operator and tools look at the whole world; a process
// never needs it.
#ifndef TRANSITION_PLAN_BYTE_MATRIX_H_
#define TRANSITION_PLAN_BYTE_MATRIX_H_

#include <cstdint>
#include <vector>

#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

struct ByteMatrix {
  int source_size = 0;
  int target_size = 0;
  // Row per source rank, column per target rank; what a process keeps too.
  // Without weights that are made anew.
  std::vector<int64_t> bytes;

  int64_t kept_bytes = 0;
  int64_t moved_bytes = 0;
  // Lower bound of moved_bytes over all plans; this planner meets it.
  int64_t minimal_bytes = 0;
  // Of the busiest process: no transfer is faster than these over one port.
  int64_t max_sent_bytes = 0;
  int64_t max_received_bytes = 0;

  int64_t at(int source_rank, int target_rank) const {
    return bytes[static_cast<size_t>(source_rank) * target_size + target_rank];
  }
};

// All zero if the source world is empty. O(target ranks x tensors) time,
// O(source ranks x target ranks) memory.
ByteMatrix ComputeByteMatrix(const PlanInput& input);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_BYTE_MATRIX_H_
