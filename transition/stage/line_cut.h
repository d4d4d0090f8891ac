// Into how many parts lines are cut, and where. Part k of a line of L bytes
// goes up to the unit that is nearest to (k + 1) L / parts.
#ifndef TRANSITION_STAGE_LINE_CUT_H_
#define TRANSITION_STAGE_LINE_CUT_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "transition/stage/lines.h"

namespace dynatrain::transition {

// 80 GiB in parts of 10 MiB.
inline constexpr int64_t kMaxParts = 8192;

struct LineCut {
  int64_t num_parts = 1;
  // A line is cut at whole units of this size at most, counted from the begin
  // of the atom; at elements if they are larger.
  int64_t unit_bytes = 1;
};

// bytes / num_parts + half_weight * unit_bytes / 2 <= room_bytes must hold,
// for what a part adds to a rank's memory beyond what was promised.
struct CutBound {
  int64_t bytes = 0;
  int64_t half_weight = 0;
  int64_t room_bytes = 0;
};

// The fewest parts, of units up to `unit_bytes`, that keep the bound; nullopt
// if more than kMaxParts, or none, would.
std::optional<int64_t> PartsFor(const CutBound& bound, int64_t unit_bytes);

// The least room with which PartsFor finds some.
int64_t LeastRoom(const CutBound& bound, int64_t unit_bytes);

// Where the parts of a line end. One goes through a line once.
class LineCutter {
 public:
  // `item_bytes`: of an element, by tensor. All outlive the cutter.
  LineCutter(const Line& line, const LineCut& cut,
             absl::Span<const int64_t> item_bytes)
      : line_(line), cut_(cut), item_bytes_(item_bytes) {}

  // The byte of the line where the first `parts` parts end.
  // REQUIRES: parts don't descend from call to call, and are in [0, num_parts].
  int64_t EndOf(int64_t parts);

 private:
  int64_t UnitOf(const LineAtom& atom) const;

  const Line& line_;
  const LineCut cut_;
  const absl::Span<const int64_t> item_bytes_;
  size_t atom_ = 0;         // that the last end was in
  int64_t atom_begin_ = 0;  // its byte on the line
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_LINE_CUT_H_
