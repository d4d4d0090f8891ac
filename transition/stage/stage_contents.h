// The moves of each stage, and what is given back after it, from lines and
// where they are cut.
#ifndef TRANSITION_STAGE_STAGE_CONTENTS_H_
#define TRANSITION_STAGE_STAGE_CONTENTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "transition/schedule/moves.h"
#include "transition/stage/line_cut.h"
#include "transition/stage/lines.h"
#include "transition/stage/stage_plan.h"

namespace dynatrain::transition {

struct StageContents {
  std::vector<Move> moves;
  std::vector<RankPiece> frees;
};

// Stage i has the parts up to stage_ends[i] of all lines, which end at
// cut.num_parts or later. Moves are cut by element, the same at all ranks;
// parts of a move that meet again in a stage are joined.
std::vector<StageContents> ContentsOf(const Moves& moves, const Lines& lines,
                                      const LineCut& cut,
                                      absl::Span<const int64_t> stage_ends);

// Disjoint boxes, those joined that make up a box. In ascending order.
std::vector<vps::Box> JoinBoxes(std::vector<vps::Box> boxes);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_STAGE_CONTENTS_H_
