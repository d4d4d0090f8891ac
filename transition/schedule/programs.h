// Programs of all ranks from moves and schedules: safe mode, in one stage. Each
// rank adopts and makes room, copies what stays, zeroes what nobody has, then
// sends and receives in the order of the schedules; nothing is freed before
// commit.
//
// Lane 0 is memory and copies. Schedule i has channel i. The k-th schedule that
// a rank is in sends in its lane 1 + 2 k and receives in lane 2 + 2 k if it is
// ordered, so that both ports work at once; of a windowed one all messages
// are in lane 1 + 2 k, a group per window. What a rank passes on but doesn't
// keep is in a buffer for each stream, with the stream's number.
#ifndef TRANSITION_SCHEDULE_PROGRAMS_H_
#define TRANSITION_SCHEDULE_PROGRAMS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "transition/program/program.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

// One program per rank. Parcels are cut at whole elements: a cut inside one
// moves down to its beginning, at both ends alike.
// REQUIRES: each stream of `moves` between two ranks is tiled by the parcels of
// one of `schedules` (for stream 0: CheckMoves).
std::vector<Program> MakePrograms(const Moves& moves,
                                  absl::Span<const Schedule> schedules,
                                  const Fingerprint& plan_digest);

// What a parcel is at its two ends: the same regions, of the copies that the
// sender reads and of those that the receiver holds.
struct ParcelPieces {
  Pieces sent;
  Pieces received;
  int64_t bytes = 0;
};

// O(log(moves) + moves in the parcel).
// REQUIRES: the parcel is within its stream.
ParcelPieces PiecesOf(const Moves& moves, const Parcel& parcel);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PROGRAMS_H_
