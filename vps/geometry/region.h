// Sets of elements as disjoint boxes: what is left when one box is taken from
// another, and whether boxes tile a box exactly.
#ifndef VPS_GEOMETRY_REGION_H_
#define VPS_GEOMETRY_REGION_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"

namespace dynatrain::vps {

// Disjoint boxes, none empty. Inline for what subtracting one box leaves in
// up to 2 dims; it allocates only beyond.
using Region = absl::InlinedVector<Box, 4>;

// `whole` without `taken`: at most 2 x dims boxes, in ascending order of
// their place along the first dim where they differ from `whole`, so that every
// rank cuts the same way.
Region Subtract(const Box& whole, const Box& taken);

// The number of elements of disjoint boxes.
int64_t NumElements(absl::Span<const Box> boxes);

// OK if `boxes` are disjoint and their union is `whole`. Otherwise
// kFailedPrecondition naming the first box that lies outside or overlaps
// another, or how many elements are missing. O(n log n) for boxes that are cut
// along one dim, O(n^2) at worst.
absl::Status CheckExactCover(const Box& whole, absl::Span<const Box> boxes);

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_REGION_H_
