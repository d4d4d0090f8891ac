// LocalSpace: what the cuts of a placement leave a rank of one tensor: per dim
// the slices of it, laid end to end, and their product in memory. For
// layout*.cc only.
#ifndef VPS_LAYOUT_LOCAL_SPACE_H_
#define VPS_LAYOUT_LOCAL_SPACE_H_

#include <array>
#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/geometry/interval.h"
#include "vps/layout/slices.h"

namespace dynatrain::vps {

class LocalSpace {
 public:
  // Of a scalar.
  LocalSpace() = default;
  // All of a tensor.
  explicit LocalSpace(const Box& whole) { Reset(whole); }
  // The same in place: dims past those of the tensor are not touched.
  void Reset(const Box& whole);

  int dims() const { return dims_; }
  const Slices& slices(int dim) const { return slices_[dim]; }
  void SetSlices(int dim, Slices slices) {
    extents_[dim] = Extent(slices);
    slices_[dim] = std::move(slices);
  }

  // Of the local tensor.
  absl::Span<const int64_t> shape() const {
    return absl::MakeConstSpan(extents_).subspan(0, dims_);
  }
  int64_t num_elements() const;

  // A box of the whole tensor that is also a box of the local one.
  struct Part {
    Box global;
    std::array<int64_t, kMaxDims> local_origin;
  };
  // The parts of `local`, a box of the local tensor: a product of slices, in
  // row-major order of them. Disjoint, and their union is what `local` stands
  // for.
  void ForEachPart(const Box& local,
                   absl::FunctionRef<void(const Part&)> visit) const;
  // The parts of all of the local tensor, or of the row-major run `flat`.
  void ForEachPart(absl::FunctionRef<void(const Part&)> visit) const;
  void ForEachPartOfFlat(Interval flat,
                         absl::FunctionRef<void(const Part&)> visit) const;

  // The least row-major position in the local tensor that is not below
  // `position` and whose element lies in `box`, a box of the whole tensor; -1
  // if there is none.
  int64_t NextPositionIn(const Box& box, int64_t position) const;

 private:
  // If each dim has one slice, which is the rule, a box is one part.
  Part OnlyPart(const Box& local) const;

  int dims_ = 0;
  std::array<int64_t, kMaxDims> extents_ = {};
  std::array<Slices, kMaxDims> slices_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LOCAL_SPACE_H_
