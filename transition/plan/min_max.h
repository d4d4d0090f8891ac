// MinMax: demands that several holders can serve are shared out so that the
// busiest holder serves as little as can be: a maximum flow from demands to
// holders whose capacity is the load sought (Ford and Fulkerson 1956).
//
// The least load is found from below: a load that is too low leaves a minimum
// cut, a set of demands that needs more than all its holders together can
// serve at that load, and the load at which they can is the next one tried.
#ifndef TRANSITION_PLAN_MIN_MAX_H_
#define TRANSITION_PLAN_MIN_MAX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace dynatrain::transition {

struct SharedDemand {
  int64_t bytes = 0;
  std::vector<int> holders;  // not empty, distinct; indices into the loads
};

struct MinMax {
  // The least that the busiest holder of any demand can have, its own load
  // included; 0 without demands.
  int64_t busiest_bytes = 0;
  // [demand][holder]: what it serves; rows sum up to the demand.
  std::vector<std::vector<int64_t>> shares;
};

// `loads` is what each holder serves besides. Holders outside of the busiest
// set are relieved in the same way, set by set, so that loads are even
// wherever they can be. The result depends on the order of demands and holders
// alone. Integers throughout.
MinMax SolveMinMax(absl::Span<const SharedDemand> demands,
                   std::vector<int64_t> loads);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_MIN_MAX_H_
