#include "vps/layout/listed_copy.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/geometry/interval.h"
#include "vps/geometry/region.h"

namespace dynatrain::vps {
namespace {

absl::Status Invalid(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

std::string ListText(absl::Span<const int64_t> numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ", "), "]");
}

// The first and the last element of `region` in the storage; nullopt if a
// number does not fit 63 bits. REQUIRES: `region` is not empty.
std::optional<Interval> Reach(const ListedRegion& region) {
  std::optional<int64_t> first = region.offset, last = region.offset;
  for (int dim = 0; dim < region.global.dims(); ++dim) {
    const std::optional<int64_t> reach =
        CheckedMultiply(region.strides[dim], region.global.extent(dim) - 1);
    if (!reach.has_value()) return std::nullopt;
    std::optional<int64_t>& end = *reach < 0 ? first : last;
    end = CheckedAdd(*end, *reach);
    if (!end.has_value()) return std::nullopt;
  }
  return Interval{*first, *last};
}

// Strides of a flat shard's regions, the largest first, as the digits of an
// address. A region is then a box of digits, counted from another's begin.
class Digits {
 public:
  // The dims of both regions that have more than one index. REQUIRES: their
  // strides are positive.
  Digits(const ListedRegion& a, const ListedRegion& b) {
    for (int dim = 0; dim < a.global.dims(); ++dim) {
      const bool in_a = a.global.extent(dim) > 1;
      if (!in_a && b.global.extent(dim) == 1) continue;
      dims_.push_back(dim);
      strides_[dim] = in_a ? a.strides[dim] : b.strides[dim];
      if (in_a && b.global.extent(dim) > 1 &&
          a.strides[dim] != b.strides[dim]) {
        same_strides_ = false;
      }
    }
    std::sort(dims_.begin(), dims_.end(),
              [&](int i, int j) { return strides_[i] > strides_[j]; });
  }

  // Whether each address is one box of digits only.
  bool AreUnique(absl::Span<const int64_t> extents) const {
    absl::int128 span = 1;  // of what the smaller strides reach
    for (size_t i = dims_.size(); i-- > 0;) {
      if (strides_[dims_[i]] < span) return false;
      span += absl::int128(strides_[dims_[i]]) * (extents[dims_[i]] - 1);
    }
    return true;
  }

  // Whether the two share an address; also true where digits don't tell.
  // REQUIRES: low.offset <= high.offset.
  bool MayMeet(const ListedRegion& low, const ListedRegion& high) const {
    if (!same_strides_) return true;
    Strides hull = {};
    int64_t rest = high.offset - low.offset;
    bool meet = true;
    for (int dim : dims_) {
      const int64_t begin = rest / strides_[dim];
      rest %= strides_[dim];
      meet = meet && begin < low.global.extent(dim);
      hull[dim] =
          std::max(low.global.extent(dim), begin + high.global.extent(dim));
    }
    return !AreUnique(hull) || (meet && rest == 0);
  }

 private:
  Strides strides_ = {};
  absl::InlinedVector<int, kMaxDims> dims_;
  bool same_strides_ = true;
};

bool IsFlat(const Box& whole, absl::Span<const int64_t> local_shape) {
  return local_shape.size() == 1 && whole.dims() != 1;
}

// That the strides are those of the row-major local tensor, and that the region
// doesn't go round its end.
absl::Status CheckRowMajor(absl::Span<const int64_t> local_shape,
                           const ListedRegion& region) {
  int64_t stride = 1;
  for (int dim = region.global.dims() - 1; dim >= 0; --dim) {
    const int64_t extent = region.global.extent(dim);
    if (extent > 1 && region.strides[dim] != stride) {
      return Invalid(absl::StrCat("strides: ", region.strides[dim],
                                  " along dim ", dim,
                                  "; the row-major local tensor ",
                                  ListText(local_shape), " has ", stride));
    }
    const int64_t begin = region.offset / stride % local_shape[dim];
    if (begin + extent > local_shape[dim]) {
      return Invalid(absl::StrCat(
          "offset: ", region.offset, " is index ", begin, " of dim ", dim,
          " of the local tensor ", ListText(local_shape), ", where ", extent,
          " indices do not fit"));
    }
    stride *= local_shape[dim];
  }
  return absl::OkStatus();
}

absl::Status CheckForm(const Box& whole, const ListedMemory& memory,
                       const ListedRegion& region) {
  if (!IsFlat(whole, memory.local_shape)) {
    return CheckRowMajor(memory.local_shape, region);
  }
  for (int dim = 0; dim < region.global.dims(); ++dim) {
    if (region.global.extent(dim) < 2 || region.strides[dim] > 0) continue;
    return Invalid(absl::StrCat("strides: ", region.strides[dim], " along dim ",
                                dim, " of a flat shard; at least 1"));
  }
  return Digits(region, region).AreUnique(region.global.shape())
             ? absl::OkStatus()
             : Invalid("strides: elements of the region share an address");
}

// The region as a box of the row-major local tensor. REQUIRES: CheckRowMajor.
Box LocalBoxOf(absl::Span<const int64_t> local_shape,
               const ListedRegion& region) {
  Strides origin = {};
  int64_t rest = region.offset;
  for (int dim = region.global.dims() - 1; dim >= 0; --dim) {
    origin[dim] = rest % local_shape[dim];
    rest /= local_shape[dim];
  }
  return Box::CreateUnchecked(
      absl::MakeConstSpan(origin).subspan(0, region.global.dims()),
      region.global.shape());
}

bool MayMeet(const Box& whole, absl::Span<const int64_t> local_shape,
             const ListedRegion& low, const ListedRegion& high) {
  if (IsFlat(whole, local_shape)) return Digits(low, high).MayMeet(low, high);
  return Intersect(LocalBoxOf(local_shape, low), LocalBoxOf(local_shape, high))
      .has_value();
}

// Sweeps along addresses: only regions whose ranges meet are compared.
absl::Status CheckAddresses(const Box& whole, const ListedMemory& memory) {
  const std::vector<ListedRegion>& regions = memory.regions;
  struct Range {
    Interval reach;
    size_t region;
  };
  std::vector<Range> ranges;
  for (size_t i = 0; i < regions.size(); ++i) {
    ranges.push_back({*Reach(regions[i]), i});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::pair(a.reach.begin, a.region) <
           std::pair(b.reach.begin, b.region);
  });
  for (size_t i = 0; i < ranges.size(); ++i) {
    const ListedRegion& region = regions[ranges[i].region];
    for (size_t j = i + 1; j < ranges.size(); ++j) {
      const ListedRegion& other = regions[ranges[j].region];
      if (ranges[j].reach.begin > ranges[i].reach.end) break;
      if (!MayMeet(whole, memory.local_shape, region, other)) continue;
      return Invalid(absl::StrCat(
          "regions[", ranges[j].region,
          "].offset: ", other.global.DebugString(), " at ", other.offset,
          " shares addresses with regions[", ranges[i].region, "], ",
          region.global.DebugString(), " at ", region.offset));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateListedRegion(const Box& whole,
                                  absl::Span<const int64_t> local_shape,
                                  const ListedRegion& region) {
  if (region.global.dims() != whole.dims() || !whole.Contains(region.global)) {
    return Invalid(absl::StrCat(region.global.DebugString(),
                                " does not lie in the tensor, ",
                                ListText(whole.shape())));
  }
  if (region.global.empty()) return absl::OkStatus();
  const std::optional<Interval> reach = Reach(region);
  const int64_t elements = CheckedVolume(local_shape).value_or(0);
  if (reach.has_value() && reach->begin >= 0 && reach->end < elements) {
    return absl::OkStatus();
  }
  return Invalid(absl::StrCat(
      "offset: ", region.offset, " with strides ",
      ListText(
          absl::MakeConstSpan(region.strides).subspan(0, region.global.dims())),
      reach.has_value()
          ? absl::StrCat(" puts elements at ", reach->begin, "..", reach->end)
          : " goes beyond 63 bits",
      ", outside of local_shape ", ListText(local_shape), ", ", elements,
      " elements"));
}

absl::Status ValidateListedMemory(const Box& whole,
                                  const ListedMemory& memory) {
  if (memory.local_shape.size() != whole.dims() &&
      memory.local_shape.size() != 1) {
    return Invalid(absl::StrCat(
        "local_shape: ", ListText(memory.local_shape), " has neither the ",
        whole.dims(), " dims of the tensor nor one, the length of a shard"));
  }
  for (size_t i = 0; i < memory.regions.size(); ++i) {
    const ListedRegion& region = memory.regions[i];
    const std::string place = absl::StrCat("regions[", i, "]");
    RETURN_IF_ERROR(ValidateListedRegion(whole, memory.local_shape, region),
                    place);
    if (region.global.empty()) {
      return Invalid(absl::StrCat(place, ": ", region.global.DebugString(),
                                  " has no element"));
    }
    RETURN_IF_ERROR(CheckForm(whole, memory, region), place);
  }
  return CheckAddresses(whole, memory);
}

absl::Status ValidateListedCopy(const Box& whole,
                                absl::Span<const ListedMemory> parts) {
  std::vector<Box> boxes;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string place = absl::StrCat("part ", i);
    if (parts[i].regions.empty()) {
      return Invalid(absl::StrCat(place, ": there is no region"));
    }
    RETURN_IF_ERROR(ValidateListedMemory(whole, parts[i]), place);
    for (const ListedRegion& region : parts[i].regions) {
      boxes.push_back(region.global);
    }
  }
  const absl::Status cover = CheckExactCover(whole, boxes);
  return cover.ok() ? cover : Invalid(cover.message());
}

}  // namespace dynatrain::vps
