// Lines: the moves cut into atoms, and atoms that the same ranks send, receive
// and give back laid end to end. A stage takes the same share of each line, so
// what all ranks receive and give back grows in proportion: that is what keeps
// tight mode within max(source, target) (docs/design/0004-stages.md). A share
// of a line is mostly whole tensors; only at its ends is one cut.
#ifndef TRANSITION_STAGE_LINES_H_
#define TRANSITION_STAGE_LINES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "transition/schedule/moves.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// An atom of one tensor: each move has all of it or nothing.
struct LineAtom {
  int tensor = 0;
  vps::Box region;
  int64_t bytes = 0;
  int first_member = 0;  // of Lines::members
  int num_members = 0;
};

// What a byte of the line costs a rank, each in bytes.
struct RankRate {
  int rank = 0;
  int allocates = 0;  // copies that it is to hold and doesn't adopt
  int frees = 0;      // copies that it gives back
  int sends = 0;      // to other ranks
  int receives = 0;   // from them
  int relays = 0;     // of those, into staging memory to be passed on
};

struct Line {
  std::vector<LineAtom> atoms;
  int64_t bytes = 0;
  std::vector<RankRate> rates;  // ascending by rank
};

struct Lines {
  std::vector<Line> lines;
  // Moves of atoms: indices into Moves::all(), adopted ones among them.
  std::vector<int> members;

  absl::Span<const int> MembersOf(const LineAtom& atom) const {
    return absl::MakeConstSpan(members).subspan(atom.first_member,
                                                atom.num_members);
  }
};

// Zero moves are in no line, nor is what is only adopted. O(moves log(moves)).
Lines MakeLines(const Moves& moves);

// The source memory that an atom's moves read and nothing adopts: (rank, copy),
// ascending, each once. It is given back when the atom is done.
struct Holder {
  int rank = 0;
  int copy = 0;
  friend auto operator<=>(const Holder&, const Holder&) = default;
  friend bool operator==(const Holder&, const Holder&) = default;
};
std::vector<Holder> FreedHolders(const Moves& moves,
                                 absl::Span<const int> members);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_LINES_H_
