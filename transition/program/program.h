// Program: all that one rank does in a transition, as a list of operations. It
// is what planner, stages and schedule come to, what an engine carries out, and
// what transition/check proves before anything moves. It names regions of
// tensors, never addresses.
//
// Order. An operation begins when the one before it in its lane has ended;
// lanes (streams) run beside each other. kJoin waits for all operations before
// it in the list, in all lanes, and those after it begin after it. What lies
// between kGroupBegin and kGroupEnd of a lane begins together and ends
// together, like an NCCL group.
//
// Matching. The n-th send of rank a to rank b on a channel meets the n-th
// receive of b from a on that channel. A channel is a communicator, or a stream
// between two ranks.
//
// Memory. At the start a rank holds the regions of the source world. kAllocate
// makes room for a region of the target world, kReceive, kCopy, kZero and
// kAdopt fill it; kFree gives up a region of the source world. kAdopt makes a
// region of the source world one of the target world where it lies. kReserve
// makes a buffer of staging memory, for what a rank passes on but doesn't keep;
// within a buffer no byte is used twice until kRelease.
//
//   Program program = {.rank = 0, .plan_digest = digest, .operations = {
//       Allocate({piece}, bytes),
//       Receive(/*peer=*/1, {piece}, bytes),
//   }};
#ifndef TRANSITION_PROGRAM_PROGRAM_H_
#define TRANSITION_PROGRAM_PROGRAM_H_

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/fingerprint.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// Elements of one tensor, in coordinates of the whole tensor. A rank may hold a
// tensor several times (vps::Layout); the same copy number means another piece
// of memory in each world.
struct Piece {
  int tensor = 0;
  vps::Box region;  // not empty
  int copy = 0;
  friend auto operator<=>(const Piece&, const Piece&) = default;
  friend bool operator==(const Piece&, const Piece&) = default;
};
using Pieces = absl::InlinedVector<Piece, 1>;

// The memory of the world that is left, of the one that is entered, or a
// buffer.
enum class Space { kSource = 0, kTarget = 1, kStaging = 2 };

// "source", "target", "staging".
const char* SpaceName(Space space);

enum class OperationKind {
  kAllocate,    // room for target pieces
  kFree,        // source pieces
  kReserve,     // staging memory: buffer, bytes
  kRelease,     // the same again
  kAdopt,       // source pieces become target pieces
  kCopy,        // pieces of `space` into pieces of `into` on the same rank
  kZero,        // target pieces that no source has become zero
  kSend,        // pieces of `space`; kTarget passes on what was received
  kReceive,     // pieces of `into`
  kJoin,        // of all lanes
  kGroupBegin,  // only sends and receives of the lane until kGroupEnd
  kGroupEnd,
};

// "allocate", "send", ...
const char* OperationName(OperationKind kind);

struct Operation {
  OperationKind kind = OperationKind::kJoin;
  int lane = 0;     // memory operations (kAllocate to kAdopt) are in lane 0
  int channel = 0;  // kSend, kReceive
  int peer = -1;    // kSend, kReceive: the rank at the other end
  int window = -1;  // kGroupBegin: ascending in a lane, equal at both ends
  int buffer = -1;  // kReserve, kRelease; where a space is kStaging
  Space space = Space::kSource;  // kSend, kCopy: where it reads
  Space into = Space::kTarget;  // kReceive, kCopy: where it writes; not kSource
  int source_copy = 0;          // kCopy: the copy of the pieces that it reads
  Pieces pieces;                // of the copies that it writes, or sends
  int64_t bytes = 0;  // of the pieces; of the buffer for kReserve, kRelease

  // "send 16 B to rank 3 (lane 0, channel 0) tensor 5 [0:4]".
  std::string DebugString() const;

  friend bool operator==(const Operation&, const Operation&) = default;
};

struct Program {
  int rank = 0;
  // Of the agreement that the plan was made under; equal on all ranks.
  Fingerprint plan_digest;
  std::vector<Operation> operations;

  // One line per operation.
  std::string DebugString() const;

  friend bool operator==(const Program&, const Program&) = default;
};

Operation Allocate(Pieces pieces, int64_t bytes);
Operation Free(Pieces pieces, int64_t bytes);
Operation Reserve(int buffer, int64_t bytes);
Operation Release(int buffer, int64_t bytes);
Operation Adopt(Pieces pieces, int64_t bytes);
Operation Copy(Pieces pieces, int64_t bytes, int lane = 0, int source_copy = 0);
Operation Zero(Pieces pieces, int64_t bytes);
Operation Send(int peer, Pieces pieces, int64_t bytes, int lane = 0,
               int channel = 0, Space space = Space::kSource);
Operation Receive(int peer, Pieces pieces, int64_t bytes, int lane = 0,
                  int channel = 0);
// Through a buffer of staging memory.
Operation SendStaged(int peer, Pieces pieces, int64_t bytes, int buffer,
                     int lane = 0, int channel = 0);
Operation ReceiveStaged(int peer, Pieces pieces, int64_t bytes, int buffer,
                        int lane = 0, int channel = 0);
Operation Join();
Operation GroupBegin(int window, int lane = 0);
Operation GroupEnd(int lane = 0);

inline std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  out << "tensor " << piece.tensor << " " << piece.region;
  return piece.copy == 0 ? out : out << " copy " << piece.copy;
}
inline std::ostream& operator<<(std::ostream& out, const Operation& it) {
  return out << it.DebugString();
}
inline std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << program.DebugString();
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_PROGRAM_PROGRAM_H_
