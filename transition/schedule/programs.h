// Programs of all ranks from moves and schedules: safe mode, in one stage. Each
// rank adopts and makes room, copies what stays, then sends and receives in the
// order of the schedules; nothing is freed before commit.
//
// Lane 0 is memory and copies. Schedule i has channel i. An ordered schedule
// sends in lane 1 + 2 i and receives in lane 2 + 2 i, so that both ports work
// at once; of a windowed one all messages are in lane 1 + 2 i, a group per
// window.
#ifndef TRANSITION_SCHEDULE_PROGRAMS_H_
#define TRANSITION_SCHEDULE_PROGRAMS_H_

#include <vector>

#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "transition/program/program.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

// One program per rank. Parcels are cut at whole elements: a cut inside one
// moves down to its beginning, at both ends alike.
// REQUIRES: each flow of moves.ToTraffic() is moved by one of `schedules`
// (CheckMoves).
std::vector<Program> MakePrograms(const Moves& moves,
                                  absl::Span<const Schedule> schedules,
                                  const Fingerprint& plan_digest);

// The bytes [begin, end) of a pair's stream as pieces.
// REQUIRES: 0 <= begin <= end <= bytes of the stream.
Pieces PiecesOf(const Moves& moves, absl::Span<const Move> stream,
                int64_t begin, int64_t end);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PROGRAMS_H_
