// Layouts made of boxes: each rank holds one box of each tensor, as with
// DTensor. What needs no more than that says so by using these.
#ifndef VPS_LAYOUT_BOXES_H_
#define VPS_LAYOUT_BOXES_H_

#include "absl/status/status.h"
#include "vps/geometry/box.h"
#include "vps/layout/layout.h"

namespace dynatrain::vps {

// OK if every tensor has one copy, that is at every rank, not flattened, and
// cut in one block. Otherwise kUnimplemented naming the first other tensor and
// why.
absl::Status CheckMadeOfBoxes(const Layout& layout);

// What `rank` holds of `tensor`; may be empty. REQUIRES: CheckMadeOfBoxes.
Box LocalBox(const Layout& layout, int rank, int tensor);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_BOXES_H_
