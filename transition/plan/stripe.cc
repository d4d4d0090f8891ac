#include "transition/plan/stripe.h"

#include <algorithm>

namespace dynatrain::transition {
namespace {

__extension__ using Wide = __int128;

// Cutting an outer dim keeps pieces contiguous; with so many indices a cut is
// off by less than 1/128 of the region.
constexpr int64_t kFineEnough = 64;

int CutDim(const vps::Box& region) {
  int longest = 0;
  for (int dim = 0; dim < region.dims(); ++dim) {
    if (region.extent(dim) >= kFineEnough) return dim;
    if (region.extent(dim) > region.extent(longest)) longest = dim;
  }
  return longest;
}

// The index nearest to where the line's cut number `cut` falls within `extent`
// indices that stand for `bytes`; 0 or `extent` if it falls outside.
int64_t CutIndex(vps::Interval bytes, const Division& division, int cut,
                 int64_t extent) {
  const int parts = division.parts();
  // In units of 1/parts byte: equal parts needn't meet at a byte.
  const Wide place = division.is_equal() ? Wide{division.cut(parts)} * cut
                                         : Wide{division.cut(cut)} * parts;
  const Wide at = place - Wide{bytes.begin} * parts;
  const Wide length = Wide{bytes.size()} * parts;
  if (at <= 0) return 0;
  if (at >= length) return extent;
  // In two steps: extent * at could need 137 bits.
  constexpr int kFractionBits = 32;
  const Wide fraction = (at << kFractionBits) / length;
  constexpr Wide kHalf = Wide{1} << (kFractionBits - 1);
  return static_cast<int64_t>((extent * fraction + kHalf) >> kFractionBits);
}

}  // namespace

int64_t Division::cut(int part) const {
  if (!is_equal()) return cuts_[part];
  // Rounded up, so that PartAt is a division too.
  return static_cast<int64_t>((Wide{end_bytes_} * part + parts_ - 1) / parts_);
}

int Division::PartAt(int64_t byte) const {
  if (parts_ == 1 || end_bytes_ == 0 || byte < 0) return 0;
  if (byte >= end_bytes_) return parts_ - 1;
  if (!is_equal()) {
    // The last of those that begin here: the others, also at 0, are empty.
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
  const int dim = CutDim(region);
  const vps::Interval whole = region.interval(dim);
  int64_t begin = whole.begin;
  for (int part = first; part <= last; ++part) {
    // The last cut may lie behind the region.
    const int64_t end =
        part == last
            ? whole.end
            : whole.begin + CutIndex(bytes, division, part + 1, whole.size());
    if (begin < end) visit(region.With(dim, {begin, end}), part);
    begin = end;
  }
}

}  // namespace dynatrain::transition
