// Moves: what goes where, region by region, over the whole world: the plan as
// schedules and programs need it.
//
// The moves of a pair that have the same stream number, in ascending order, are
// a stream: both ends lay the same regions end to end, so a range of bytes
// means the same to both. Stream 0 is what goes from who has it to who needs
// it; collectives have streams of their own (collective.h), in which ranks
// pass on what they received.
#ifndef TRANSITION_SCHEDULE_MOVES_H_
#define TRANSITION_SCHEDULE_MOVES_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/program/program.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct Move {
  int sender = 0;
  int receiver = 0;      // equal to the sender: it stays
  Piece piece;           // as the receiver is to hold it
  bool adopted = false;  // stays where it lies, without a copy
  bool zero = false;     // nobody has it: it becomes zero on the receiver
  int source_copy = 0;   // that the sender reads
  int stream = 0;
  // Where the sender reads it. kTarget or kStaging: the sender passes on what
  // rank `after` sent it by another move; `after` is -1 exactly for kSource.
  Space space = Space::kSource;
  int after = -1;
  // kStaging: the receiver passes it on and doesn't keep it.
  Space into = Space::kTarget;

  friend bool operator==(const Move&, const Move&) = default;
};

// By sender, receiver, stream, then piece.
bool operator<(const Move& a, const Move& b);

// Copies in source and target memory are below. In staging memory they are
// numbers that collectives make of ranks and copies (by_node.cc).
inline constexpr int kMaxCopies = 1 << 14;

class Moves {
 public:
  // Moves in any order. Returns kInvalidArgument naming the move if a rank,
  // tensor or copy is not there (see kMaxCopies), a region is empty, one that
  // is adopted or zero does not stay, one that stays is in a collective, it is
  // passed on after nobody or goes into source memory, or reads or writes
  // another space than the move before it in its stream; or naming the tensor
  // whose elements have no bytes. Returns kOutOfRange if there are more bytes
  // than kMaxTrafficBytes.
  static absl::StatusOr<Moves> Create(int num_ranks,
                                      std::vector<int64_t> item_bytes,
                                      std::vector<Move> moves);
  // Other moves among the same ranks, of the same tensors; item_bytes are
  // shared. Returns what Create returns for moves.
  absl::StatusOr<Moves> With(std::vector<Move> moves) const;

  int num_ranks() const { return num_ranks_; }
  absl::Span<const Move> all() const { return moves_; }  // ascending
  // A stream of a pair; what stays if they are equal. O(log(moves)).
  absl::Span<const Move> Between(int sender, int receiver,
                                 int stream = 0) const;
  // Bytes of an element, by tensor.
  absl::Span<const int64_t> item_bytes() const { return *item_bytes_; }
  int64_t item_bytes(int tensor) const { return (*item_bytes_)[tensor]; }
  int64_t BytesOf(const Piece& piece) const {
    return piece.region.num_elements() * item_bytes(piece.tensor);
  }
  // Where a move begins in its stream. REQUIRES: it is one of all().
  int64_t OffsetOf(const Move& move) const {
    return offsets_[&move - moves_.data()];
  }

  // What leaves its rank in stream 0: what point-to-point schedules move.
  Traffic ToTraffic() const;

 private:
  using ItemBytes = std::shared_ptr<const std::vector<int64_t>>;

  static absl::StatusOr<Moves> CreateShared(int num_ranks, ItemBytes item_bytes,
                                            std::vector<Move> moves);
  Moves(int num_ranks, ItemBytes item_bytes, std::vector<Move> moves);

  int num_ranks_;
  ItemBytes item_bytes_;  // never null; of all parts of a plan
  std::vector<Move> moves_;
  std::vector<int64_t> offsets_;  // of each in its stream
};

inline std::ostream& operator<<(std::ostream& out, const Move& move) {
  out << move.piece << " from rank " << move.sender << " to rank "
      << move.receiver;
  if (move.after >= 0) out << ", after rank " << move.after;
  return out << (move.adopted ? ", adopted" : "")
             << (move.zero ? ", zero" : "");
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_MOVES_H_
