// Which layouts a number of ranks has under the user's constraints.
#ifndef OPERATOR_SOLVER_LAYOUTS_H_
#define OPERATOR_SOLVER_LAYOUTS_H_

#include <functional>

#include "api/job/spec.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::control {

// Calls `visit` for each layout whose sizes multiply to `world_size`, lie in
// their ranges and cut the model evenly (as far as its numbers are said: tp
// divides its heads, ep its experts, pp is at most its layers), in a fixed
// order, until it returns false.
void ForEachLayout(int world_size, const api::Parallelism& constraints,
                   const std::function<bool(const vps::AxisSizes&)>& visit);

// True if there is one.
bool HasLayout(int world_size, const api::Parallelism& constraints);

// True if each size of `layout` lies in its range and the model can be cut so.
bool Permits(const api::Parallelism& constraints, const vps::AxisSizes& layout);

}  // namespace dynatrain::control

#endif  // OPERATOR_SOLVER_LAYOUTS_H_
