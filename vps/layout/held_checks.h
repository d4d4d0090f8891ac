// CheckHeld: whether a copy is one of its tensor.
#ifndef VPS_LAYOUT_HELD_CHECKS_H_
#define VPS_LAYOUT_HELD_CHECKS_H_

#include "absl/status/status.h"
#include "vps/layout/layout_body.h"
#include "vps/layout/placement.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {

// kInvalidArgument naming the field of `held` (or the cut of its placement)
// that does not fit the rest of the layout or `spec`: LayoutBuilder::Build says
// what is refused. REQUIRES: the placements of `body` are valid and compiled.
absl::Status CheckHeld(const LayoutBody& body, const Held& held,
                       const TensorSpec& spec);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_HELD_CHECKS_H_
