// Stripe: how a region that several ranks could send is divided among them, in
// closed form, so that every rank divides it alike without a running load.
#ifndef TRANSITION_PLAN_STRIPE_H_
#define TRANSITION_PLAN_STRIPE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

struct StripeRule {
  int num_senders = 1;       // at least 1
  int64_t item_bytes = 1;    // of one element
  int64_t stripe_bytes = 1;  // no cut makes a piece smaller than this
  int64_t turn = 0;          // whose turn it is: how many stripes went before
  int64_t replica = 0;       // which of the target's replicas this is for
};

// Calls `visit` with disjoint pieces of `region` that cover it and the index in
// 0..num_senders-1 of the sender of each. A sender gets at most one piece.
// REQUIRES: `region` is not empty.
void Stripe(const vps::Box& region, const StripeRule& rule,
            absl::FunctionRef<void(const vps::Box& piece, int sender)> visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_STRIPE_H_
