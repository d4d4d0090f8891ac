#include "transition/stage/atoms.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "vps/geometry/interval.h"

namespace dynatrain::transition {
namespace {

using vps::Box;
using Visit = absl::FunctionRef<void(const Box&, absl::Span<const int>)>;

// A region within the box that is being cut, and those that are equal to it.
struct Part {
  Box region;
  int region_index = 0;
};

// "dim" is cut at "at".
struct Plane {
  int dim = -1;  // none
  int64_t at = 0;
  int64_t crossings = 0;  // regions that it cuts
  int64_t imbalance = 0;  // regions more on one side
};

bool Better(const Plane& a, const Plane& b) {
  if (a.dim < 0 || b.dim < 0) return a.dim >= 0;
  return std::tuple(a.crossings, a.imbalance, a.dim, a.at) <
         std::tuple(b.crossings, b.imbalance, b.dim, b.at);
}

// The best plane across `dim`, strictly inside `box`, at an end of a region.
Plane BestPlane(const Box& box, absl::Span<const Part> parts, int dim) {
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  for (const Part& part : parts) {
    begins.push_back(part.region.interval(dim).begin);
    ends.push_back(part.region.interval(dim).end);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  const int64_t count = static_cast<int64_t>(parts.size());
  Plane best;
  const auto consider = [&](int64_t at) {
    const vps::Interval inside = box.interval(dim);
    if (at <= inside.begin || at >= inside.end) return;
    const int64_t before =
        std::upper_bound(ends.begin(), ends.end(), at) - ends.begin();
    const int64_t after =
        begins.end() - std::lower_bound(begins.begin(), begins.end(), at);
    const Plane plane = {dim, at, count - before - after,
                         std::abs(before - after)};
    if (Better(plane, best)) best = plane;
  };
  for (const int64_t at : begins) consider(at);
  for (const int64_t at : ends) consider(at);
  return best;
}

class Cutter {
 public:
  // `groups`: by region, the indices of what it stands for.
  Cutter(absl::Span<const std::vector<int>> groups, Visit visit)
      : groups_(groups), visit_(visit) {}

  void Cut(const Box& box, std::vector<Part> parts) {
    if (parts.empty()) return;
    Plane best;
    for (int dim = 0; dim < box.dims(); ++dim) {
      const Plane plane = BestPlane(box, parts, dim);
      if (Better(plane, best)) best = plane;
    }
    if (best.dim < 0) return Emit(box, parts);
    const vps::Interval whole = box.interval(best.dim);
    CutHalf(box.With(best.dim, {whole.begin, best.at}), parts);
    CutHalf(box.With(best.dim, {best.at, whole.end}), parts);
  }

 private:
  void CutHalf(const Box& half, absl::Span<const Part> parts) {
    std::vector<Part> within;
    for (const Part& part : parts) {
      const auto common = vps::Intersect(part.region, half);
      if (common.has_value()) within.push_back({*common, part.region_index});
    }
    Cut(half, std::move(within));
  }

  // All parts are the box: no end of a region is inside it.
  void Emit(const Box& box, absl::Span<const Part> parts) {
    members_.clear();
    for (const Part& part : parts) {
      const std::vector<int>& group = groups_[part.region_index];
      members_.insert(members_.end(), group.begin(), group.end());
    }
    std::sort(members_.begin(), members_.end());
    visit_(box, members_);
  }

  const absl::Span<const std::vector<int>> groups_;
  const Visit visit_;
  std::vector<int> members_;
};

Box BoundingBox(absl::Span<const Part> parts) {
  std::array<int64_t, vps::kMaxDims> begin = {};
  std::array<int64_t, vps::kMaxDims> extent = {};
  const int dims = parts[0].region.dims();
  for (int dim = 0; dim < dims; ++dim) {
    vps::Interval bounds = parts[0].region.interval(dim);
    for (const Part& part : parts) {
      const vps::Interval it = part.region.interval(dim);
      bounds = {std::min(bounds.begin, it.begin), std::max(bounds.end, it.end)};
    }
    begin[dim] = bounds.begin;
    extent[dim] = bounds.size();
  }
  return Box::CreateUnchecked(absl::MakeConstSpan(begin).subspan(0, dims),
                              absl::MakeConstSpan(extent).subspan(0, dims));
}

}  // namespace

void ForEachAtom(absl::Span<const Box> regions, Visit visit) {
  if (regions.empty()) return;
  std::vector<int> order(regions.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (const auto by = regions[a] <=> regions[b]; by != 0) return by < 0;
    return a < b;
  });
  std::vector<Part> parts;
  std::vector<std::vector<int>> groups;
  for (const int i : order) {
    if (parts.empty() || parts.back().region != regions[i]) {
      parts.push_back({regions[i], static_cast<int>(groups.size())});
      groups.emplace_back();
    }
    groups.back().push_back(i);
  }
  // Most tensors have one region: no planes are looked for.
  if (parts.size() == 1) return visit(parts[0].region, groups[0]);
  const Box bounds = BoundingBox(parts);
  Cutter(groups, visit).Cut(bounds, std::move(parts));
}

}  // namespace dynatrain::transition
