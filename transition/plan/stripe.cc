#include "transition/plan/stripe.h"

#include <algorithm>

namespace dynatrain::transition {
namespace {

// Cutting an outer dim keeps pieces contiguous, but a short one cuts
// unevenly; with this many indices per piece the error is below 1/16.
constexpr int64_t kIndicesPerPiece = 16;

int CutDim(const vps::Box& region, int64_t pieces) {
  int longest = 0;
  for (int dim = 0; dim < region.dims(); ++dim) {
    if (region.extent(dim) / kIndicesPerPiece >= pieces) return dim;
    if (region.extent(dim) > region.extent(longest)) longest = dim;
  }
  return longest;
}

// Piece `index` of `count`, sizes differing by at most 1.
vps::Interval EvenPiece(vps::Interval whole, int64_t count, int64_t index) {
  const int64_t base = whole.size() / count;
  const int64_t longer = whole.size() % count;
  const auto cut = [&](int64_t i) {
    return whole.begin + i * base + std::min(i, longer);
  };
  return {cut(index), cut(index + 1)};
}

}  // namespace

void Stripe(const vps::Box& region, const StripeRule& rule,
            absl::FunctionRef<void(const vps::Box&, int)> visit) {
  const int64_t bytes = region.num_elements() * rule.item_bytes;
  // A scalar cannot be cut.
  int64_t pieces =
      region.dims() == 0
          ? 1
          : std::clamp<int64_t>(bytes / rule.stripe_bytes, 1, rule.num_senders);
  const int dim = pieces == 1 ? 0 : CutDim(region, pieces);
  if (pieces > 1) pieces = std::min(pieces, region.extent(dim));
  // Replicas of one region start one after the other, so that together they
  // load each sender alike. Both terms are reduced first: no overflow.
  const int64_t senders = rule.num_senders;
  const int64_t first =
      rule.turn % senders + rule.replica % senders * pieces % senders;
  for (int64_t i = 0; i < pieces; ++i) {
    const vps::Box piece =
        pieces == 1
            ? region
            : region.With(dim, EvenPiece(region.interval(dim), pieces, i));
    visit(piece, static_cast<int>((first + i) % senders));
  }
}

}  // namespace dynatrain::transition
