// The one box that a rank holds of each tensor under DTensor: for tests of such
// layouts.
#ifndef VPS_LAYOUT_BOXES_H_
#define VPS_LAYOUT_BOXES_H_

#include "vps/geometry/box.h"
#include "vps/layout/layout.h"

namespace dynatrain::vps {

// What `rank` holds of `tensor`; may be empty. REQUIRES: the tensor has one
// copy, that is at every rank, not flattened, and cut in one block.
Box LocalBox(const Layout& layout, int rank, int tensor);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_BOXES_H_
