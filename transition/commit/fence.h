// What every command of an operator carries, so that a deposed operator, a late
// message of another attempt, or one for another plan is refused.
#ifndef TRANSITION_COMMIT_FENCE_H_
#define TRANSITION_COMMIT_FENCE_H_

#include <cstdint>
#include <string>

namespace dynatrain::transition {

struct Fence {
  uint64_t term = 0;        // of the operator that says it
  uint64_t generation = 0;  // the transition's target generation
  // Agreement::Text() of plan/agreement.h; empty in Greet, Prepare and Abort.
  std::string plan_digest = {};

  friend bool operator==(const Fence&, const Fence&) = default;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_COMMIT_FENCE_H_
