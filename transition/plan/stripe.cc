#include "transition/plan/stripe.h"

#include <algorithm>

namespace dynatrain::transition {
namespace {

__extension__ using Wide = __int128;

// Cutting an outer dim keeps pieces contiguous; with so many indices per part a
// cut is off by less than 1/128 of it.
constexpr int64_t kFineEnough = 64;

int CutDim(const vps::Box& region, int parts) {
  int longest = 0;
  for (int dim = 0; dim < region.dims(); ++dim) {
    if (region.extent(dim) / parts >= kFineEnough) return dim;
    if (region.extent(dim) > region.extent(longest)) longest = dim;
  }
  return longest;
}

// The index of `extent` that stand for `bytes` that is nearest to the byte.
int64_t CutIndex(vps::Interval bytes, int64_t byte, int64_t extent) {
  if (byte <= bytes.begin) return 0;
  if (byte >= bytes.end) return extent;
  const Wide twice = Wide{extent} * (byte - bytes.begin) * 2;
  return static_cast<int64_t>((twice + bytes.size()) /
                              (Wide{bytes.size()} * 2));
}

}  // namespace

int64_t Division::cut(int part) const {
  if (!cuts_.empty()) return cuts_[part];
  // Rounded up, so that PartAt is a division too.
  return static_cast<int64_t>((Wide{end_bytes_} * part + parts_ - 1) / parts_);
}

int Division::PartAt(int64_t byte) const {
  if (parts_ == 1 || byte <= 0) return 0;
  if (byte >= end_bytes_) return parts_ - 1;
  if (!cuts_.empty()) {
    return static_cast<int>(std::upper_bound(cuts_.begin(), cuts_.end(), byte) -
                            cuts_.begin() - 1);
  }
  constexpr int64_t kSmall = int64_t{1} << 52;
  if (byte < kSmall && parts_ < 1 << 10) {
    return static_cast<int>(byte * parts_ / end_bytes_);
  }
  return static_cast<int>(Wide{byte} * parts_ / end_bytes_);
}

int OnlyPart(const vps::Box& region, vps::Interval bytes,
             const Division& division) {
  if (division.parts() == 1) return 0;
  const int first = division.PartAt(bytes.begin);
  const int last = division.PartAt(bytes.end - 1);
  if (first < last && region.num_elements() > 1) return -1;
  return division.PartAt(bytes.begin + bytes.size() / 2);
}

void Stripe(const vps::Box& region, vps::Interval bytes,
            const Division& division,
            absl::FunctionRef<void(const vps::Box&, int)> visit) {
  const int only = OnlyPart(region, bytes, division);
  if (only >= 0) return visit(region, only);
  const int first = division.PartAt(bytes.begin);
  const int last = division.PartAt(bytes.end - 1);
  const int dim = CutDim(region, last - first + 1);
  const vps::Interval whole = region.interval(dim);
  int64_t begin = whole.begin;
  for (int part = first; part <= last; ++part) {
    // The last cut may lie behind the region.
    const int64_t end =
        part == last ? whole.end
                     : whole.begin + CutIndex(bytes, division.cut(part + 1),
                                              whole.size());
    if (begin < end) visit(region.With(dim, {begin, end}), part);
    begin = end;
  }
}

}  // namespace dynatrain::transition
