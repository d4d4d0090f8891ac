// Balance: the heaviest sender sends at most 1.05 times what it has to in the
// best plan that moves the same bytes to the same ranks. Plans that are carried
// out have it from MakePlanInput (make_input.h).
//
//   ASSIGN_OR_RETURN(PlanInput input, PlanInput::Create(source, target));
//   input = BalanceSenders(input);    // last: all ranks do, or none
//
// Equal parts (stripe.h) need no look at other ranks and are mostly even. They
// are not where some targets have a holder in their own member and others
// haven't, where targets are no multiple of the holders, or where some holders
// have other things to send. There the loads are solved exactly (min_max.h) on
// groups of demands that the same ranks can serve.
#ifndef TRANSITION_PLAN_BALANCE_SENDERS_H_
#define TRANSITION_PLAN_BALANCE_SENDERS_H_

#include <cstdint>

#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

// Beyond any of these, equal parts are kept. The whole plan has to be looked
// at, on every rank, while training goes on beside it: these keep that to about
// a second of one core and some tens of megabytes. All ranks see the same
// numbers, so all go beyond them or none.
struct BalanceOptions {
  // In either world.
  int max_ranks = 1024;
  // Summed over the target's ranks: the tensors that each is to hold. Takes
  // about 0.1 us each (bench/plan_bench.cc, BalanceQwen).
  int64_t max_tensors = 10'000'000;
  // Summed over the groups of demands: the ranks that can serve each. They are
  // the edges of the flow network.
  int64_t max_holders = 1 << 18;
};

struct SenderBalance {
  // Whether it was worked out; the rest is 0 if it is beyond the options or
  // there is no source.
  bool known = false;
  // Of the heaviest sender, over all that it sends: with equal parts; in the
  // best plan (a lower bound); as chosen, up to rounding to rows.
  int64_t even_bytes = 0;
  int64_t bound_bytes = 0;
  int64_t chosen_bytes = 0;
};

// The input with equal parts if those are within 1.05 of the bound, it is
// beyond `options` or nothing better was found, else with SenderShares. Unless
// it is beyond `options` or nothing is sent, `balance` tells. Their pieces are
// kept as large as PlanOptions asks: where that binds (one rank that joins a
// thousand replicas), the heaviest sender is above the bound by a piece of
// min_sender_bytes or by the target's bytes / max_senders.
PlanInput BalanceSenders(const PlanInput& input,
                         const BalanceOptions& options = {},
                         SenderBalance* balance = nullptr);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_BALANCE_SENDERS_H_
