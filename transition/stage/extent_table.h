// What each part of the lines takes and gives back, where memory goes by whole
// extents (RankMemory::extent_bytes): replayed byte by byte.
#ifndef TRANSITION_STAGE_EXTENT_TABLE_H_
#define TRANSITION_STAGE_EXTENT_TABLE_H_

#include <cstdint>
#include <vector>

#include "transition/schedule/moves.h"
#include "transition/stage/line_cut.h"
#include "transition/stage/lines.h"
#include "transition/stage/part_bytes.h"
#include "transition/stage/world_memory.h"

namespace dynatrain::transition {

struct ExtentTable {
  PartTable table;  // of cut.num_parts, and a part behind them for zeros
  // By rank: at the start, then without what nobody needs (tight).
  std::vector<int64_t> source_bytes;
  std::vector<int64_t> resident_bytes;
};

// `frees`: in tight mode. REQUIRES: TotalsOf accepts the memory.
ExtentTable ExtentTableOf(const Moves& moves, const Lines& lines,
                          const WorldMemory& memory, const LineCut& cut,
                          bool frees);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_EXTENT_TABLE_H_
