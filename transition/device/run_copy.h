// Copies between strided runs in host memory: the pack, unpack and local copy
// of a region. A region's bytes are numbered in row-major order of its elements
// (vps::StridedRun's law), the same on both sides, so a copy of the range
// [begin, begin + size) may be done in any cut, at element boundaries or not.
//
//   // Packs bytes [0, slot.size()) of the region into a staging slot:
//   Pack(base, run, 0, slot);
#ifndef TRANSITION_DEVICE_RUN_COPY_H_
#define TRANSITION_DEVICE_RUN_COPY_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "vps/geometry/strided_run.h"

namespace dynatrain::transition {

// A run's bytes in memory: `base` is the address that offset 0 means.
// REQUIRES of all below: the range lies within [0, run.num_bytes()); memory of
// the two sides doesn't overlap.
struct ConstRunView {
  const std::byte* base = nullptr;
  const vps::StridedRun* run = nullptr;
};
struct RunView {
  std::byte* base = nullptr;
  const vps::StridedRun* run = nullptr;
  operator ConstRunView() const { return {base, run}; }
};

// Bytes [begin, begin + to.size()) of `from` into `to`.
void Pack(ConstRunView from, int64_t begin, absl::Span<std::byte> to);

// `from` into bytes [begin, begin + from.size()) of `to`.
void Unpack(absl::Span<const std::byte> from, RunView to, int64_t begin);

// Bytes [begin, begin + size) of `from` into the same bytes of `to`.
void CopyRun(ConstRunView from, RunView to, int64_t begin, int64_t size);

// Makes all bytes of the region 0.
void FillWithZero(RunView view);

// The bytes from `begin` on that lie contiguous in memory, at most `limit`;
// empty only at the run's end.
absl::Span<const std::byte> ContiguousAt(ConstRunView view, int64_t begin,
                                         int64_t limit);
absl::Span<std::byte> ContiguousAt(RunView view, int64_t begin, int64_t limit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_DEVICE_RUN_COPY_H_
