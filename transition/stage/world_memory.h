// What the ranks of both worlds hold and are to hold, and how their memory can
// be given back: all that stages depend on beside the moves.
#ifndef TRANSITION_STAGE_WORLD_MEMORY_H_
#define TRANSITION_STAGE_WORLD_MEMORY_H_

#include <cstdint>
#include <vector>

#include "transition/program/program.h"

namespace dynatrain::transition {

// Memory that is given back, or taken, piece by piece: as soon as nobody needs
// the bytes.
inline constexpr int kByExtents = -1;

struct RankMemory {
  std::vector<Piece> source;  // held at the start; those of a copy are disjoint
  std::vector<Piece> target;  // to be held at the end; likewise
  // By piece: kByExtents, or the number of the allocation that it lies in with
  // others, which can only be given back, or made, as a whole. Numbers are
  // of the rank, from 0; of source and target each on their own. Empty: all
  // are kByExtents.
  std::vector<int> source_buffers;
  std::vector<int> target_buffers;
  // Memory of the process that is dead while state moves, as gradients are at a
  // step boundary: staging lies in it before the allocator is asked. It is not
  // among source and target and not counted in any limit.
  int64_t dead_bytes = 0;
  // Memory goes by whole pages of so many bytes (extents.h). 1: any bytes.
  // Above 1, all pieces are kByExtents.
  int64_t extent_bytes = 1;

  friend bool operator==(const RankMemory&, const RankMemory&) = default;
};

// By rank, as in the moves.
using WorldMemory = std::vector<RankMemory>;

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_WORLD_MEMORY_H_
