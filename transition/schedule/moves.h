// Moves: what goes where, region by region, over the whole world: the plan as
// schedules and programs need it.
//
// The moves of a pair, in ascending order, are its stream: both ends lay the
// same regions end to end, so a range of bytes means the same to both.
#ifndef TRANSITION_SCHEDULE_MOVES_H_
#define TRANSITION_SCHEDULE_MOVES_H_

#include <compare>
#include <cstdint>
#include <ostream>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/program/program.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct Move {
  int sender = 0;
  int receiver = 0;  // equal to the sender: it stays
  Piece piece;
  bool adopted = false;  // stays where it lies, without a copy
  // By sender, receiver, then piece.
  friend auto operator<=>(const Move&, const Move&) = default;
  friend bool operator==(const Move&, const Move&) = default;
};

class Moves {
 public:
  // Moves in any order. Returns kInvalidArgument naming the move if a rank or
  // tensor is not there, a region is empty, or one that is adopted does not
  // stay, or naming the tensor whose elements have no bytes; kOutOfRange if
  // there are more bytes than kMaxTrafficBytes.
  static absl::StatusOr<Moves> Create(int num_ranks,
                                      std::vector<int64_t> item_bytes,
                                      std::vector<Move> moves);

  int num_ranks() const { return num_ranks_; }
  absl::Span<const Move> all() const { return moves_; }  // ascending
  // The stream of a pair; what stays if they are equal. O(log(moves)).
  absl::Span<const Move> Between(int sender, int receiver) const;
  // Bytes of an element of the tensor.
  int64_t item_bytes(int tensor) const { return item_bytes_[tensor]; }
  int64_t BytesOf(const Piece& piece) const {
    return piece.region.num_elements() * item_bytes_[piece.tensor];
  }

  // What leaves its rank.
  Traffic ToTraffic() const;

 private:
  Moves(int num_ranks, std::vector<int64_t> item_bytes,
        std::vector<Move> moves);

  int num_ranks_;
  std::vector<int64_t> item_bytes_;
  std::vector<Move> moves_;
};

inline std::ostream& operator<<(std::ostream& out, const Move& move) {
  return out << move.piece << " from rank " << move.sender << " to rank "
             << move.receiver << (move.adopted ? ", adopted" : "");
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_MOVES_H_
