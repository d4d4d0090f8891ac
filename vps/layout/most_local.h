// MostLocalElements: how large a local tensor is at most, which decides how
// much of a run a copy takes.
#ifndef VPS_LAYOUT_MOST_LOCAL_H_
#define VPS_LAYOUT_MOST_LOCAL_H_

#include <cstdint>

#include "vps/layout/layout_body.h"
#include "vps/layout/placement.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {

// Of the copy `held` of `spec`, over the ranks of lane number `lane` (0 if its
// placement has no lanes). REQUIRES: the placement is compiled, and its cuts
// are of dims of `spec`.
int64_t MostLocalElements(const LayoutBody& body, const Held& held,
                          const TensorSpec& spec, int lane);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_MOST_LOCAL_H_
