// Stripe: how what several ranks can send is divided among them, in integers,
// so that every rank divides it alike.
//
// The bytes in question lie end to end and are cut at a few places; each sender
// has what lies between two cuts. Equal parts of a line of tensors (LineSpan)
// need no running load: each sender sends the same bytes, a contiguous run of
// tensors, and a whole line has fewer cuts than senders however many tensors it
// has.
#ifndef TRANSITION_PLAN_STRIPE_H_
#define TRANSITION_PLAN_STRIPE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/geometry/interval.h"

namespace dynatrain::transition {

// Where bytes 0..end-1 are cut: part p has the bytes cut(p)..cut(p + 1) - 1.
class Division {
 public:
  // Into parts that differ by a byte at most. REQUIRES: parts >= 1.
  static Division Equal(int64_t end_bytes, int parts) {
    return Division(end_bytes, parts);
  }

  // At `cuts`: ascending, the first is 0, the last is the end. A view.
  static Division At(absl::Span<const int64_t> cuts) {
    Division division(cuts.back(), static_cast<int>(cuts.size()) - 1);
    division.cuts_ = cuts;
    return division;
  }

  bool is_equal() const { return cuts_.empty(); }
  int parts() const { return parts_; }
  // REQUIRES: 0 <= part <= parts().
  int64_t cut(int part) const;
  // The part that has the byte, the first one's or the last one's if it lies
  // outside.
  int PartAt(int64_t byte) const;

 private:
  Division(int64_t end_bytes, int parts)
      : end_bytes_(end_bytes), parts_(parts) {}

  int64_t end_bytes_;
  int parts_;
  absl::Span<const int64_t> cuts_;  // empty: equal parts
};

// The part that all of `bytes` lies in; -1 if it is cut. A region of one
// element can't be cut and lies where its middle does.
int OnlyPart(const vps::Box& region, vps::Interval bytes,
             const Division& division);

// Calls `visit` with disjoint pieces of `region` that cover it, and for each
// the part in which it lies, ascending. `bytes` are the region's, or stand for
// it in proportion. REQUIRES: `region` is not empty.
void Stripe(const vps::Box& region, vps::Interval bytes,
            const Division& division,
            absl::FunctionRef<void(const vps::Box& piece, int part)> visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_STRIPE_H_
