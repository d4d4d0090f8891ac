// Extents: memory that is given back, and taken, in whole pages only. The
// pieces of one world that a rank holds lie end to end, each row by row, in the
// order in which they are given, from the beginning of an extent on. An extent
// is in use from when the first byte in it has room until nobody needs any of
// them.
#ifndef TRANSITION_STAGE_EXTENTS_H_
#define TRANSITION_STAGE_EXTENTS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

class Extents {
 public:
  // No byte is in use. `item_bytes`: of an element, by tensor. Both outlive the
  // extents. REQUIRES: extent_bytes >= 1.
  Extents(absl::Span<const Piece> pieces, absl::Span<const int64_t> item_bytes,
          int64_t extent_bytes);

  // Bytes of a region of one of the pieces, that were not in use, or were.
  // Returns by how many bytes the extents in use become more, or less.
  // O(rows of the region).
  int64_t Use(const Piece& region) { return Add(region, 1); }
  int64_t GiveBack(const Piece& region) { return -Add(region, -1); }

  int64_t bytes_in_use() const { return in_use_ * extent_bytes_; }

 private:
  struct Placed {
    const vps::Box* region;
    int64_t begin;  // byte
  };

  int64_t Add(const Piece& region, int sign);
  int64_t AddRun(int64_t begin, int64_t bytes, int sign);

  const int64_t extent_bytes_;
  const absl::Span<const int64_t> item_bytes_;
  std::map<std::pair<int, int>, std::vector<Placed>> placed_;  // tensor, copy
  std::vector<int64_t> used_;  // bytes in use, by extent
  int64_t in_use_ = 0;         // extents
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_EXTENTS_H_
