// Slices: what cuts leave a rank of one dim, and the inverse: which ranks a
// part of the dim goes to.
#ifndef VPS_LAYOUT_SLICES_H_
#define VPS_LAYOUT_SLICES_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "vps/geometry/interval.h"

namespace dynatrain::vps {

// Intervals of the whole dim, ascending, disjoint, none empty, none touching
// the next. Laid end to end they are the rank's own index space of the dim.
using Slices = absl::InlinedVector<Interval, 4>;

// How one Cut divides a dim.
struct CutRule {
  int pieces = 1;
  int num_blocks = 1;
  absl::Span<const int64_t> block_extents;  // if not empty, in place of blocks
};

// The number of indices.
int64_t Extent(const Slices& slices);

// What piece number `piece` of the cut leaves of `slices`.
// REQUIRES: 0 <= piece < rule.pieces; block_extents sum up to Extent(slices).
Slices CutSlices(const Slices& slices, const CutRule& rule, int64_t piece);

// The extents of all pieces of `extent` indices, each once, descending: a piece
// is never longer than the one before it. O(different extents * log pieces)
// CutSlices. REQUIRES: as CutSlices.
absl::InlinedVector<int64_t, 4> PieceExtents(int64_t extent,
                                             const CutRule& rule);

// Where an index goes by a cut: the piece that gets it, and where in that
// piece's own index space it is.
struct PlaceInCut {
  int64_t piece = 0;
  int64_t index = 0;
  int64_t extent = 0;  // of that space

  friend bool operator==(const PlaceInCut&, const PlaceInCut&) = default;
};

// Of index `index` of what a rank has of a dim before the cut, `extent` in all:
// O(1); with block_extents O(their number), which is how many matrices a
// framework lays side by side (five at most, Mamba's in_proj).
// REQUIRES: 0 <= index < extent; as CutSlices.
PlaceInCut FindInCut(int64_t extent, const CutRule& rule, int64_t index);

// The numbers of the pieces that share an index with `part` (in the whole dim),
// as ascending intervals that do not touch.
Slices PiecesMeeting(const Slices& slices, const CutRule& rule, Interval part);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_SLICES_H_
