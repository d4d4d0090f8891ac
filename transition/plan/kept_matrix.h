// KeptMatrix: what would stay in a process if it took a target rank, for every
// source rank and every target rank. It depends on the two layouts alone, not
// on which process has which rank, so it is what relabeling chooses by. For the
// operator and tools: it looks at the whole world.
#ifndef TRANSITION_PLAN_KEPT_MATRIX_H_
#define TRANSITION_PLAN_KEPT_MATRIX_H_

#include <cstdint>
#include <vector>

#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

struct KeptMatrix {
  int source_size = 0;
  int target_size = 0;
  // Row per source rank, column per target rank: ByteTotals::kept_bytes of a
  // process that has both, so without weights that are made anew.
  std::vector<int64_t> bytes;

  int64_t at(int source_rank, int target_rank) const {
    return bytes[static_cast<size_t>(source_rank) * target_size + target_rank];
  }
};

// All zero if the source world is empty. Worked out once per class of tensors
// (PlanInput::class_of) from the pieces that ranks hold together; elements are
// never enumerated. O(classes x pieces x pairs of their holders) time, O(source
// ranks x target ranks) memory.
KeptMatrix ComputeKeptMatrix(const PlanInput& input);

// The matrix in two sums, for worlds too large for it.
struct GivenKept {
  int64_t kept_bytes = 0;       // by all processes, in the given order
  int64_t reachable_bytes = 0;  // of what target ranks hold, what any source
                                // rank has: no order keeps more
};

// In the matrix's time; O(source ranks) memory.
GivenKept ComputeGivenKept(const PlanInput& input);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_KEPT_MATRIX_H_
