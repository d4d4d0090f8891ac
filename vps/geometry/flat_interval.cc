#include "vps/geometry/flat_interval.h"

#include <array>
#include <cassert>

namespace dynatrain::vps {
namespace {

// The index of an element, one digit per dim: a number in mixed radix.
using Digits = std::array<int64_t, kMaxDims>;

// The first digit may be shape[0]: the position behind the last element.
Digits DigitsOf(absl::Span<const int64_t> shape, int64_t position) {
  Digits digits = {};
  for (int dim = static_cast<int>(shape.size()) - 1; dim > 0; --dim) {
    digits[dim] = position % shape[dim];
    position /= shape[dim];
  }
  if (!shape.empty()) digits[0] = position;
  return digits;
}

// `prefix` before `dim`, `along` in it, everything in the dims behind it.
Box RunBox(absl::Span<const int64_t> shape, const Digits& prefix, int dim,
           Interval along) {
  Digits origin = {};
  Digits extents = {};
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    origin[d] = d < dim ? prefix[d] : d == dim ? along.begin : 0;
    extents[d] = d < dim ? 1 : d == dim ? along.size() : shape[d];
  }
  return Box::CreateUnchecked(
      absl::MakeConstSpan(origin).subspan(0, shape.size()),
      absl::MakeConstSpan(extents).subspan(0, shape.size()));
}

}  // namespace

void ForEachBoxOfFlatInterval(absl::Span<const int64_t> shape,
                              Interval interval,
                              absl::FunctionRef<void(const Box&)> visit) {
  if (interval.empty()) return;
  const int dims = static_cast<int>(shape.size());
  if (dims == 0) return visit(Box());
  Digits begin = DigitsOf(shape, interval.begin);
  const Digits end = DigitsOf(shape, interval.end);
  int split = 0;  // the first dim along which the ends differ
  while (begin[split] == end[split]) ++split;
  for (int dim = dims - 1; dim > split; --dim) {
    if (begin[dim] == 0) continue;
    if (begin[dim] < shape[dim]) {
      visit(RunBox(shape, begin, dim, {begin[dim], shape[dim]}));
    }
    begin[dim] = 0;
    ++begin[dim - 1];
  }
  if (begin[split] < end[split]) {
    visit(RunBox(shape, begin, split, {begin[split], end[split]}));
  }
  for (int dim = split + 1; dim < dims; ++dim) {
    if (end[dim] > 0) visit(RunBox(shape, end, dim, {0, end[dim]}));
  }
}

int64_t NextFlatPosition(absl::Span<const int64_t> shape, const Box& box,
                         int64_t position) {
  assert(!box.empty() && box.dims() == static_cast<int>(shape.size()));
  const int dims = box.dims();
  if (dims == 0) return position == 0 ? 0 : -1;
  Digits digits = DigitsOf(shape, position);
  // The smallest index of the box that is not below `digits`: keep digits while
  // they lie in the box; the first one that doesn't decides.
  int keep = 0;
  while (keep < dims && box.interval(keep).Contains(digits[keep])) ++keep;
  if (keep < dims && digits[keep] >= box.interval(keep).end) {
    // Too far along this dim: count up the last kept digit that can.
    while (--keep >= 0 && digits[keep] + 1 >= box.interval(keep).end) {
    }
    if (keep < 0) return -1;
    ++digits[keep++];
  }
  int64_t next = 0;
  for (int dim = 0; dim < dims; ++dim) {
    next = next * shape[dim] + (dim < keep ? digits[dim] : box.origin(dim));
  }
  return next;
}

}  // namespace dynatrain::vps
