#include "transition/stage/extents.h"

#include <algorithm>

#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

// Calls `visit(position, elements)` for each run of elements of `region` that
// is contiguous in `box`, which holds it; positions are row-major in `box`.
template <typename Visit>
void ForEachRun(const Box& box, const Box& region, const Visit& visit) {
  // The last dims that the region has all of are one run, with the dim before.
  int dim = box.dims();
  int64_t run = 1;
  while (dim > 0 && region.interval(dim - 1) == box.interval(dim - 1)) {
    run *= box.extent(--dim);
  }
  if (dim > 0) run *= region.extent(--dim);
  std::vector<int64_t> strides(box.dims(), 1);
  for (int d = box.dims() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * box.extent(d);
  }
  int64_t first = 0;
  for (int d = 0; d < box.dims(); ++d) {
    first += (region.origin(d) - box.origin(d)) * strides[d];
  }
  std::vector<int64_t> index(dim);
  for (;;) {
    int64_t position = first;
    for (int d = 0; d < dim; ++d) position += index[d] * strides[d];
    visit(position, run);
    int d = dim - 1;
    while (d >= 0 && ++index[d] == region.extent(d)) index[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace

Extents::Extents(absl::Span<const Piece> pieces,
                 absl::Span<const int64_t> item_bytes, int64_t extent_bytes)
    : extent_bytes_(extent_bytes), item_bytes_(item_bytes) {
  int64_t bytes = 0;
  for (const Piece& it : pieces) {
    placed_[{it.tensor, it.copy}].push_back({&it.region, bytes});
    bytes += it.region.num_elements() * item_bytes[it.tensor];
  }
  used_.resize((bytes + extent_bytes - 1) / extent_bytes);
}

int64_t Extents::Add(const Piece& region, int sign) {
  const int64_t item_bytes = item_bytes_[region.tensor];
  int64_t extents = 0;
  for (const Placed& it : placed_[{region.tensor, region.copy}]) {
    if (!it.region->Contains(region.region)) continue;
    ForEachRun(*it.region, region.region,
               [&](int64_t position, int64_t elements) {
                 extents += AddRun(it.begin + position * item_bytes,
                                   elements * item_bytes, sign);
               });
  }
  in_use_ += extents;
  return extents * extent_bytes_;
}

int64_t Extents::AddRun(int64_t begin, int64_t bytes, int sign) {
  int64_t extents = 0;
  const int64_t end = begin + bytes;
  for (int64_t i = begin / extent_bytes_; i * extent_bytes_ < end; ++i) {
    const int64_t common = std::min(end, (i + 1) * extent_bytes_) -
                           std::max(begin, i * extent_bytes_);
    const bool was_used = used_[i] > 0;
    used_[i] += sign * common;
    extents += static_cast<int>(used_[i] > 0) - static_cast<int>(was_used);
  }
  return extents;
}

}  // namespace dynatrain::transition
