// WeightRing: how ranks of a new layout make weights out of the masters that
// they have shares of: each casts its share and gathers the others', around the
// ring of the ranks that share the master, as NCCL's all-gather does.
#ifndef TOOLS_SIMULATE_WEIGHT_RING_H_
#define TOOLS_SIMULATE_WEIGHT_RING_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "tools/simulate/switch_case.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::simulate {

// Each rank passes on all of its part of the weight but what the next one has
// cast itself. `is_cast` says of a weight of the target's layout whether it is
// made so. REQUIRES: those have a "main".
std::vector<transition::Flow> WeightRing(
    const SwitchCase& change, absl::FunctionRef<bool(int tensor)> is_cast);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_WEIGHT_RING_H_
