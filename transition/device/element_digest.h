// A layout-invariant digest of a region: the same whatever the memory layout
// and however the region is cut, because it is a sum over elements of
//   Mix(bits of the element, its row-major index in the global tensor, seed)
// modulo 2^64. Sender and receiver each compute it over their own tensor's
// memory and compare: one flipped bit always changes it (Mix is a bijection in
// the bits), exchanged, shifted or missing elements with probability 1 - 2^-64.
//
// It finds faults of memory, copies and plans; it is no defence against
// somebody who wants a collision.
#ifndef TRANSITION_DEVICE_ELEMENT_DIGEST_H_
#define TRANSITION_DEVICE_ELEMENT_DIGEST_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// How to walk one region in one memory.
class ElementDigest {
 public:
  // `region` in coordinates of the global tensor of `global_shape`; its element
  // at region.origin() + i lies at sum(i[d] * strides_bytes[d]) from the
  // address that Sum() gets. `seed` keeps equal values of two tensors apart.
  // REQUIRES: one stride per dim; item_bytes is 1, 2, 4, 8 or 16.
  static ElementDigest Create(const vps::Box& region,
                              absl::Span<const int64_t> global_shape,
                              absl::Span<const int64_t> strides_bytes,
                              int64_t item_bytes, uint64_t seed);

  int64_t num_elements() const { return num_elements_; }

  // The sum over elements [begin, begin + count) in row-major order of the
  // region. Sums of disjoint ranges add up to the region's digest.
  uint64_t Sum(const std::byte* first, int64_t begin, int64_t count) const;

 private:
  // Outermost first; dims that continue each other in the index and in memory
  // are one loop.
  struct Loop {
    int64_t count;
    int64_t index_stride;
    int64_t stride_bytes;
  };
  ElementDigest() = default;
  void AddLoop(Loop loop);

  int64_t item_bytes_ = 0;
  uint64_t seed_ = 0;
  int64_t num_elements_ = 0;
  int64_t first_index_ = 0;
  absl::InlinedVector<Loop, 4> loops_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_DEVICE_ELEMENT_DIGEST_H_
