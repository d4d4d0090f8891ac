#include "vps/layout/most_local.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vps/layout/slices.h"

namespace dynatrain::vps {
namespace {

// The piece of a cut that is meant; nullopt: any.
using PieceOf =
    absl::FunctionRef<std::optional<int>(const PlacementBody::CutBody&)>;

// What the cuts leave of a dim at most, in these pieces. The first piece is the
// largest, and of a longer dim it is longer. But for blocks: 3 indices in 3
// blocks, each cut in 2, give 3 to the first piece, 4 indices (2, 2 and 0 to a
// block) only 2. And but for later pieces: of 3 indices in 3 pieces the last
// has 1, of 4 (2, 2 and 0) none. So before such a cut all pieces count.
int64_t MostLocalExtent(absl::Span<const PlacementBody::CutBody> cuts, int dim,
                        int64_t extent, PieceOf piece_of) {
  std::set<int64_t> extents = {extent};
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    if (cut->dim != dim) continue;
    const bool all_count =
        std::any_of(cut + 1, cuts.end(), [&](const auto& later) {
          return later.dim == dim &&
                 (later.rule.num_blocks > 1 || piece_of(later).value_or(0) > 0);
        });
    std::set<int64_t> after;
    const std::optional<int> piece = piece_of(*cut);
    for (const int64_t before : extents) {
      if (all_count && !piece.has_value()) {
        for (int64_t extent : PieceExtents(before, cut->rule)) {
          after.insert(extent);
        }
      } else {
        after.insert(
            Extent(CutSlices({{0, before}}, cut->rule, piece.value_or(0))));
      }
    }
    extents = std::move(after);
  }
  return *extents.rbegin();
}

}  // namespace

int64_t MostLocalElements(const LayoutBody& body, const Held& held,
                          const TensorSpec& spec, int lane) {
  const PlacementBody& placement = body.body_of(held);
  const auto piece_of =
      [&](const PlacementBody::CutBody& cut) -> std::optional<int> {
    if (!cut.of_lane) return std::nullopt;
    return body.groups[cut.group].NumberOf(
        body.groups[placement.lane_group].RankOf(lane));
  };
  int64_t elements = 1;
  for (int dim = 0; dim < spec.whole().dims(); ++dim) {
    elements *= MostLocalExtent(placement.cuts, dim, spec.whole().extent(dim),
                                piece_of);
  }
  return elements;
}

}  // namespace dynatrain::vps
