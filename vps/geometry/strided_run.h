// Where the bytes of a box lie in memory: one run of contiguous bytes, repeated
// by a few outer loops, i.e. the shape of cudaMemcpy2D/3D. Descriptors, never
// rows: their number does not depend on how many elements the box has.
//
// Law: enumerating the loops, the last one fastest, meets the elements of the
// box in row-major order.
#ifndef VPS_GEOMETRY_STRIDED_RUN_H_
#define VPS_GEOMETRY_STRIDED_RUN_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"

namespace dynatrain::vps {

struct StridedRun {
  struct Loop {
    int64_t count = 0;
    int64_t stride_bytes = 0;
    friend bool operator==(const Loop&, const Loop&) = default;
  };

  int64_t offset_bytes = 0;  // of the first byte, from the tensor's first
  int64_t inner_bytes = 0;   // contiguous bytes; 0 if the box is empty
  absl::InlinedVector<Loop, 4> loops;  // outermost first; each count > 1

  bool contiguous() const { return loops.empty(); }
  int64_t num_runs() const;
  int64_t num_bytes() const { return inner_bytes * num_runs(); }
  // "64 + 8 B x 4 step 32".
  std::string DebugString() const;

  friend bool operator==(const StridedRun&, const StridedRun&) = default;
};

// The strides of a row-major tensor in bytes, one per dim.
absl::InlinedVector<int64_t, kMaxDims> RowMajorStrides(
    absl::Span<const int64_t> shape, int64_t item_bytes);

// The run of `box` (in coordinates of the local tensor) where the element at
// index i lies at sum(i[d] * strides_bytes[d]), merged to the longest
// contiguous inner run and the fewest loops. Strides may be any, also negative
// or 0 for dims of extent 1.
// REQUIRES: strides_bytes has an entry per dim of `box`.
StridedRun RunOf(const Box& box, absl::Span<const int64_t> strides_bytes,
                 int64_t item_bytes);

// As above for a row-major tensor of `shape`.
StridedRun RunInRowMajor(const Box& box, absl::Span<const int64_t> shape,
                         int64_t item_bytes);

// The row-major flat index of the element at `index` in a tensor of `shape`.
// REQUIRES: as many entries as dims, 0 <= index[d] < shape[d].
int64_t FlatIndex(absl::Span<const int64_t> index,
                  absl::Span<const int64_t> shape);

inline std::ostream& operator<<(std::ostream& out, const StridedRun& run) {
  return out << run.DebugString();
}

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_STRIDED_RUN_H_
