// The oracle of the planner's property tests: who holds which element,
// by enumerating elements and nothing else. It shares no code with vps/ or with
// the planner: meshes, the chunk rule and flat indices are done again here, the
// slow and obvious way.
#ifndef TRANSITION_PLAN_BRUTE_FORCE_H_
#define TRANSITION_PLAN_BRUTE_FORCE_H_

#include <cstdint>
#include <set>
#include <vector>

#include "transition/plan/random_case.h"

namespace dynatrain::transition {

// Flat row-major indices of elements.
using Elements = std::set<int64_t>;

// [rank][tensor] -> what the rank holds.
using Holdings = std::vector<std::vector<Elements>>;

Holdings BruteForceHoldings(const PlanCase& plan_case,
                            const PlanCase::Side& side);

// The elements of the box with that origin and shape in a tensor.
Elements BruteForceBox(const std::vector<int64_t>& tensor_shape,
                       const std::vector<int64_t>& origin,
                       const std::vector<int64_t>& shape);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_BRUTE_FORCE_H_
