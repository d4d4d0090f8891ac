#include "transition/plan/stripe.h"

#include <algorithm>
#include <cstdint>

namespace dynatrain::transition {
namespace {

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

__extension__ using Wide = __int128;

// Where the line's cut number `cut` falls within `extent` indices that stand
// for the span: the nearest index, 0 or `extent` if it falls outside.
int64_t CutIndex(const LineSpan& span, int parts, int64_t cut, int64_t extent) {
  // In units of 1/parts byte from the span's begin.
  const Wide at = Wide{span.line_bytes} * cut - Wide{span.begin_bytes} * parts;
  const Wide length = Wide{span.end_bytes - span.begin_bytes} * parts;
  if (at <= 0) return 0;
  if (at >= length) return extent;
  // In two steps: extent * at could need 137 bits.
  constexpr int kFractionBits = 32;
  const Wide fraction = (at << kFractionBits) / length;
  constexpr Wide kHalf = Wide{1} << (kFractionBits - 1);
  return static_cast<int64_t>((extent * fraction + kHalf) >> kFractionBits);
}

// The part of the line in which position `bytes` lies.
int PartAt(const LineSpan& span, int parts, Wide bytes) {
  if (span.line_bytes == 0) return 0;
  return static_cast<int>(
      std::clamp<Wide>(bytes * parts / span.line_bytes, 0, parts - 1));
}

}  // namespace

void Stripe(const vps::Box& region, const LineSpan& span, int parts,
            absl::FunctionRef<void(const vps::Box&, int)> visit) {
  const int first = PartAt(span, parts, span.begin_bytes);
  const int last = PartAt(span, parts, Wide{span.end_bytes} - 1);
  if (first >= last || region.num_elements() == 1) {
    const Wide middle = (Wide{span.begin_bytes} + span.end_bytes) / 2;
    visit(region, PartAt(span, parts, middle));
    return;
  }
  const int dim = CutDim(region);
  const vps::Interval whole = region.interval(dim);
  const auto index = [&](int cut) {
    // The cut behind the last part may lie inside of the last byte.
    return cut > last ? whole.end
                      : whole.begin + CutIndex(span, parts, cut, whole.size());
  };
  for (int part = first; part <= last; ++part) {
    const vps::Interval piece = {index(part), index(part + 1)};
    if (!piece.empty()) visit(region.With(dim, piece), part);
  }
}

}  // namespace dynatrain::transition
