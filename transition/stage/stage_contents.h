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
  std::vector<RankPiece> makes;
  std::vector<RankPiece> frees;
};

// A part of a move.
struct MoveFragment {
  int move = 0;  // index into Moves::all()
  vps::Box region;
};

// The fragments as moves; those of a move that make up boxes are joined.
std::vector<Move> JoinFragments(const Moves& moves,
                                std::vector<MoveFragment> fragments);
// Puts what is adopted into the first stage and zeros into the last.
void AddWhatStays(const Moves& moves, std::vector<StageContents>& stages);

// Stage i has the parts up to stage_ends[i] of all lines, which end at
// cut.num_parts or later. Moves are cut by element, the same at all ranks;
// parts of a move that meet again in a stage are joined.
std::vector<StageContents> ContentsOf(const Moves& moves, const Lines& lines,
                                      const LineCut& cut,
                                      absl::Span<const int64_t> stage_ends);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_STAGE_CONTENTS_H_
