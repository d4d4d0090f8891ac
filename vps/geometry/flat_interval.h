// Flat intervals: a run of row-major positions of a tensor as boxes, in closed
// form. A shard of a flattened tensor (ZeRO, FSDP1) is such a run.
//
// The boxes are a head of rows that grow outwards, a middle, and a tail of rows
// that shrink inwards: at most 2 N - 1 for N dims (3 for a matrix: the end of a
// row, whole rows, the beginning of a row), however many elements there are.
#ifndef VPS_GEOMETRY_FLAT_INTERVAL_H_
#define VPS_GEOMETRY_FLAT_INTERVAL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/geometry/interval.h"

namespace dynatrain::vps {

// Calls `visit` with the disjoint boxes whose elements have the row-major
// positions of `interval` in a tensor of `shape`. Each box is one contiguous
// run of positions; they come in ascending order. None for an empty interval.
// O(dims) per box, no allocation.
//   [3, 14) of shape [4, 5]:  [0:1, 3:5] [1:2, 0:5] [2:3, 0:4]
// REQUIRES: the interval lies within [0, elements of the shape).
void ForEachBoxOfFlatInterval(absl::Span<const int64_t> shape,
                              Interval interval,
                              absl::FunctionRef<void(const Box&)> visit);

// The least position that is not below `position` of an element of `box`, a box
// within a tensor of `shape`; -1 if all of its elements lie before. O(dims).
// REQUIRES: `box` is not empty, position >= 0.
int64_t NextFlatPosition(absl::Span<const int64_t> shape, const Box& box,
                         int64_t position);

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_FLAT_INTERVAL_H_
