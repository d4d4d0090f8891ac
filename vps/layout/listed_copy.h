// ListedCopy: what ranks hold of a tensor where no chain of steps says it, but
// a list: as a live job of any framework dumped it (vps/layout/listing).
// Placement::listed says which ranks hold part number i, a ListedCopy what that
// part is.
#ifndef VPS_LAYOUT_LISTED_COPY_H_
#define VPS_LAYOUT_LISTED_COPY_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/layout/placement.h"

namespace dynatrain::vps {

// One number per dim of a tensor; entries past its dims are 0.
using Strides = std::array<int64_t, kMaxDims>;

// A box that a rank holds. Element g of the whole tensor lies at
// offset + sum_d (g[d] - global.origin(d)) * strides[d].
struct ListedRegion {
  Box global;          // in the whole tensor
  int64_t offset = 0;  // elements, in the rank's storage of the tensor
  Strides strides = {};

  friend bool operator==(const ListedRegion&, const ListedRegion&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ListedRegion& region) {
    return H::combine(std::move(h), region.global, region.offset,
                      region.strides);
  }
};

// The memory of the ranks that hold one part: a local tensor, row-major, or, if
// `local_shape` is one dim of a tensor of more or none, a flat shard.
struct ListedMemory {
  std::vector<int64_t> local_shape;
  std::vector<ListedRegion> regions;
  Storage storage;

  friend bool operator==(const ListedMemory&, const ListedMemory&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ListedMemory& memory) {
    return H::combine(std::move(h), memory.local_shape, memory.regions,
                      memory.storage.buffer, memory.storage.offset);
  }
};

// Part by part.
using ListedCopy = std::vector<ListedMemory>;

// OK if `region` lies in `whole`, and its elements in `local_shape`. Otherwise
// kInvalidArgument naming the field.
absl::Status ValidateListedRegion(const Box& whole,
                                  absl::Span<const int64_t> local_shape,
                                  const ListedRegion& region);

// OK if each region is as above and not empty, no two elements share an
// address, and memory has one of the two forms that ListedMemory names.
// Otherwise kInvalidArgument naming the region by its place,
// "regions[1].strides: ...". O(n log n) for regions whose addresses are apart.
absl::Status ValidateListedMemory(const Box& whole, const ListedMemory& memory);

// OK if each part is valid and the regions of all parts tile `whole`.
// Otherwise kInvalidArgument naming the part and the region.
absl::Status ValidateListedCopy(const Box& whole,
                                absl::Span<const ListedMemory> parts);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTED_COPY_H_
