// FillDigests: the canonical form of a layout, and its digests.
#ifndef VPS_LAYOUT_LAYOUT_DIGEST_H_
#define VPS_LAYOUT_LAYOUT_DIGEST_H_

#include "vps/layout/layout_body.h"

namespace dynatrain::vps {

// Sets `digest` (of all the body was built of) and `tensors_digest` (of the
// tensors alone, in their order).
void FillDigests(LayoutBody& body);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LAYOUT_DIGEST_H_
