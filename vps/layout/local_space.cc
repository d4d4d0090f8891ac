#include "vps/layout/local_space.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "vps/geometry/flat_interval.h"

namespace dynatrain::vps {

void LocalSpace::Reset(const Box& whole) {
  dims_ = whole.dims();
  for (int dim = 0; dim < dims_; ++dim) {
    extents_[dim] = whole.extent(dim);
    slices_[dim].clear();
    if (!whole.interval(dim).empty()) {
      slices_[dim].push_back(whole.interval(dim));
    }
  }
}

int64_t LocalSpace::num_elements() const {
  int64_t elements = 1;
  for (int dim = 0; dim < dims_; ++dim) {
    if (extents_[dim] == 0) return 0;
    elements *= extents_[dim];
  }
  return elements;
}

LocalSpace::Part LocalSpace::OnlyPart(const Box& local) const {
  Part part;
  std::array<int64_t, kMaxDims> origin;
  for (int dim = 0; dim < dims_; ++dim) {
    part.local_origin[dim] = local.origin(dim);
    origin[dim] = slices_[dim][0].begin + local.origin(dim);
  }
  part.global = Box::CreateUnchecked(
      absl::MakeConstSpan(origin).subspan(0, dims_), local.shape());
  return part;
}

void LocalSpace::ForEachPart(const Box& local,
                             absl::FunctionRef<void(const Part&)> visit) const {
  if (absl::c_all_of(absl::MakeConstSpan(slices_).subspan(0, dims_),
                     [](const Slices& of_dim) { return of_dim.size() == 1; })) {
    return visit(OnlyPart(local));
  }
  std::array<int64_t, kMaxDims> origin = {};
  std::array<int64_t, kMaxDims> extents = {};
  Part part;
  const auto descend = [&](auto&& self, int dim) -> void {
    if (dim == dims_) {
      part.global =
          Box::CreateUnchecked(absl::MakeConstSpan(origin).subspan(0, dims_),
                               absl::MakeConstSpan(extents).subspan(0, dims_));
      visit(part);
      return;
    }
    int64_t begin = 0;  // of the slice in the local tensor
    for (const Interval& slice : slices_[dim]) {
      const Interval own =
          Intersect({begin, begin + slice.size()}, local.interval(dim));
      if (!own.empty()) {
        part.local_origin[dim] = own.begin;
        origin[dim] = slice.begin + own.begin - begin;
        extents[dim] = own.size();
        self(self, dim + 1);
      }
      begin += slice.size();
      if (begin >= local.interval(dim).end) break;
    }
  };
  part.local_origin = {};
  descend(descend, 0);
}

void LocalSpace::ForEachPart(absl::FunctionRef<void(const Part&)> visit) const {
  static constexpr std::array<int64_t, kMaxDims> kOrigin = {};
  ForEachPart(Box::CreateUnchecked(
                  absl::MakeConstSpan(kOrigin).subspan(0, dims_), shape()),
              visit);
}

void LocalSpace::ForEachPartOfFlat(
    Interval flat, absl::FunctionRef<void(const Part&)> visit) const {
  ForEachBoxOfFlatInterval(
      shape(), flat, [&](const Box& local) { ForEachPart(local, visit); });
}

int64_t LocalSpace::NextPositionIn(const Box& box, int64_t position) const {
  int64_t next = -1;
  ForEachPart([&](const Part& part) {
    const std::optional<Box> common = Intersect(part.global, box);
    if (!common.has_value()) return;
    std::array<int64_t, kMaxDims> origin = {};
    for (int dim = 0; dim < dims_; ++dim) {
      origin[dim] = part.local_origin[dim] + common->origin(dim) -
                    part.global.origin(dim);
    }
    const int64_t found = NextFlatPosition(
        shape(),
        Box::CreateUnchecked(absl::MakeConstSpan(origin).subspan(0, dims_),
                             common->shape()),
        position);
    if (found >= 0 && (next < 0 || found < next)) next = found;
  });
  return next;
}

}  // namespace dynatrain::vps
