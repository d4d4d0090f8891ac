// A small world, walked whole: what is required of any layout that some text
// gave.
#ifndef TESTS_FUZZ_LAYOUT_WALK_H_
#define TESTS_FUZZ_LAYOUT_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "vps/geometry/region.h"
#include "vps/layout/layout.h"

namespace dynatrain::fuzz {

inline void Require(bool holds) {
  if (!holds) __builtin_trap();
}

// Walking more takes too long to be done millions of times.
inline bool IsSmall(const vps::Layout& layout) {
  return layout.world_size() <= 32 && layout.num_tensors() <= 1000;
}

inline int64_t LocalElements(const vps::Layout& layout,
                             const vps::OwnedRegion& region, int rank) {
  const vps::LocalShape shape =
      *layout.LocalShapeOf(rank, region.tensor, region.copy);
  int64_t elements = 1;
  for (int64_t extent : shape) elements *= extent;
  return elements;
}

// The region lies in the tensor, its last element in the rank's memory, and its
// first element is owned by the rank.
inline void CheckRegion(const vps::Layout& layout, int rank,
                        const vps::OwnedRegion& region) {
  const vps::Box& whole = layout.tensor(region.tensor).whole();
  Require(!region.global.empty() && whole.Contains(region.global));
  int64_t last = region.offset;
  for (int dim = 0; dim < whole.dims(); ++dim) {
    last += (region.global.extent(dim) - 1) * region.strides[dim];
  }
  Require(region.offset >= 0 && last < LocalElements(layout, region, rank));
  Require(layout.IsAt(rank, region.tensor, region.copy));
  Require(layout.BufferOffset(rank, region.tensor, region.copy) >= 0);
  Require(layout.Owners(region.tensor, region.copy, region.global.origin())
              .Contains(rank));
}

// The pieces of the whole tensor are as many elements as it has.
inline void CheckPieces(const vps::Layout& layout, int tensor, int copy) {
  const vps::Box& whole = layout.tensor(tensor).whole();
  int64_t elements = 0;
  layout.ForEachPiece(tensor, copy, whole, [&](const vps::Piece& piece) {
    elements += piece.box.num_elements();
    Require(piece.region.Contains(piece.box));
    Require(piece.holders.size() > 0);
  });
  Require(elements == whole.num_elements());
}

inline void Walk(const vps::Layout& layout) {
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      CheckRegion(layout, rank, region);
    });
  }
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
      CheckPieces(layout, tensor, copy);
    }
  }
}

}  // namespace dynatrain::fuzz

#endif  // TESTS_FUZZ_LAYOUT_WALK_H_
