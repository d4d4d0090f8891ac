// Stripe: how what several ranks can send is divided among them, in closed form
// and in integers, so that every rank divides it alike without a running load.
//
// The tensors of a line (LineSpan) lie end to end; the line is cut into as many
// equal parts as there are senders. So each sender sends the same bytes, a
// contiguous run of tensors, and a whole line has fewer cuts than senders
// however many tensors it has.
#ifndef TRANSITION_PLAN_STRIPE_H_
#define TRANSITION_PLAN_STRIPE_H_

#include "absl/functional/function_ref.h"
#include "transition/plan/plan_input.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// Calls `visit` with disjoint pieces of `region` that cover it, and for each
// the part of the line, in 0..parts-1 and ascending, in which it lies. `region`
// is the tensor's place on the line, or stands for it in proportion. REQUIRES:
// `region` is not empty, parts is in 1..1024.
void Stripe(const vps::Box& region, const LineSpan& span, int parts,
            absl::FunctionRef<void(const vps::Box& piece, int part)> visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_STRIPE_H_
