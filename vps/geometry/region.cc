#include "vps/geometry/region.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dynatrain::vps {

Region Subtract(const Box& whole, const Box& taken) {
  const std::optional<Box> common = Intersect(whole, taken);
  if (!common.has_value()) {
    return whole.empty() ? Region{} : Region{whole};
  }
  Region rest;
  // Peel off, dim by dim, what lies before and behind the common box; what is
  // left shrinks to it.
  Box left = whole;
  for (int dim = 0; dim < whole.dims(); ++dim) {
    const Interval outer = left.interval(dim);
    const Interval inner = common->interval(dim);
    if (outer.begin < inner.begin) {
      rest.push_back(left.With(dim, {outer.begin, inner.begin}));
    }
    if (inner.end < outer.end) {
      rest.push_back(left.With(dim, {inner.end, outer.end}));
    }
    left = left.With(dim, inner);
  }
  return rest;
}

int64_t NumElements(absl::Span<const Box> boxes) {
  int64_t sum = 0;
  for (const Box& box : boxes) sum += box.num_elements();
  return sum;
}

absl::Status CheckExactCover(const Box& whole, absl::Span<const Box> boxes) {
  std::vector<const Box*> sorted;
  for (const Box& box : boxes) {
    if (!whole.Contains(box)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "box ", box.DebugString(), " lies outside of ", whole.DebugString()));
    }
    if (!box.empty()) sorted.push_back(&box);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Box* a, const Box* b) { return *a < *b; });
  // A box can overlap only later ones that begin before its end along dim 0.
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = i + 1; j < sorted.size(); ++j) {
      if (whole.dims() > 0 &&
          sorted[j]->origin(0) >= sorted[i]->interval(0).end) {
        break;
      }
      if (Intersect(*sorted[i], *sorted[j]).has_value()) {
        return absl::FailedPreconditionError(
            absl::StrCat("boxes ", sorted[i]->DebugString(), " and ",
                         sorted[j]->DebugString(), " overlap"));
      }
    }
  }
  // They are disjoint and inside, so the volumes decide.
  const int64_t missing = whole.num_elements() - NumElements(boxes);
  if (missing != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(missing, " of ", whole.num_elements(), " elements of ",
                     whole.DebugString(), " are in no box"));
  }
  return absl::OkStatus();
}

}  // namespace dynatrain::vps
