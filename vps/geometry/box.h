// Box: a hyper-rectangle of elements of one tensor, the unit in which the
// parameter space is cut. Boxes are small values: no allocation, copied
// freely. A box of rank 0 is a scalar and holds one element; a box with an
// extent of 0 is empty and holds none.
//
//   ASSIGN_OR_RETURN(Box whole, Box::Create({0, 0}, {8, 4}));
//   Box rows = whole.With(0, {2, 6});      // [2:6, 0:4], 16 elements
//   std::optional<Box> common = Intersect(rows, other);
#ifndef VPS_GEOMETRY_BOX_H_
#define VPS_GEOMETRY_BOX_H_

#include <array>
#include <cassert>
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/geometry/interval.h"

namespace dynatrain::vps {

// Dims of a tensor at most. Inline storage keeps boxes off the heap.
inline constexpr int kMaxDims = 8;

class Box {
 public:
  // The scalar box.
  Box() = default;

  // Returns kInvalidArgument, naming the dim, if the spans differ in length,
  // there are more than kMaxDims, a number is negative, or the last index or
  // the number of elements does not fit 63 bits.
  static absl::StatusOr<Box> Create(absl::Span<const int64_t> origin,
                                    absl::Span<const int64_t> shape);
  // The box of a whole tensor: origin 0.
  static absl::StatusOr<Box> Whole(absl::Span<const int64_t> shape);
  // As Create. REQUIRES: what Create checks (asserted in debug builds).
  static Box CreateUnchecked(absl::Span<const int64_t> origin,
                             absl::Span<const int64_t> shape) {
    assert(Create(origin, shape).ok());
    Box box;
    box.dims_ = static_cast<int>(shape.size());
    // Not std::copy: a call of memmove costs more than the few numbers there
    // are.
    for (int dim = 0; dim < box.dims_; ++dim) {
      box.origin_[dim] = origin[dim];
      box.shape_[dim] = shape[dim];
    }
    return box;
  }

  int dims() const { return dims_; }
  int64_t origin(int dim) const { return origin_[dim]; }
  int64_t extent(int dim) const { return shape_[dim]; }
  Interval interval(int dim) const {
    return {origin_[dim], origin_[dim] + shape_[dim]};
  }
  absl::Span<const int64_t> origin() const {
    return absl::MakeConstSpan(origin_).subspan(0, dims_);
  }
  absl::Span<const int64_t> shape() const {
    return absl::MakeConstSpan(shape_).subspan(0, dims_);
  }

  int64_t num_elements() const;
  bool empty() const;
  // True if each element of `other` is one of this box. An empty box is
  // contained in every box of its dims.
  bool Contains(const Box& other) const;

  // This box with `interval` along `dim`.
  // REQUIRES: `interval` lies within interval(dim).
  Box With(int dim, Interval interval) const;
  // The same elements counted from `origin`: where this box lies in the local
  // tensor of a box that starts there. REQUIRES: origin <= this->origin().
  Box RelativeTo(absl::Span<const int64_t> origin) const;

  // "[2:6, 0:4]"; a scalar is "[]".
  std::string DebugString() const;

  friend bool operator==(const Box& a, const Box& b) {
    return a.dims_ == b.dims_ && a.origin_ == b.origin_ && a.shape_ == b.shape_;
  }
  friend std::optional<Box> Intersect(const Box& a, const Box& b);
  // By origin, then shape: the order of regions within one tensor.
  friend std::strong_ordering operator<=>(const Box& a, const Box& b);
  template <typename H>
  friend H AbslHashValue(H h, const Box& box) {
    return H::combine(std::move(h), box.origin(), box.shape());
  }

 private:
  // Entries past dims_ stay 0, so that == may compare whole arrays.
  int dims_ = 0;
  std::array<int64_t, kMaxDims> origin_ = {};
  std::array<int64_t, kMaxDims> shape_ = {};
};

// The common elements, or nullopt if there are none (or the dims differ).
std::optional<Box> Intersect(const Box& a, const Box& b);

inline std::ostream& operator<<(std::ostream& out, const Box& box) {
  return out << box.DebugString();
}

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_BOX_H_
