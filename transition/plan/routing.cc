#include "transition/plan/routing.h"

#include "transition/plan/stripe.h"

namespace dynatrain::transition {

void ForEachRouteOf(const PlanInput& input, const Demand& demand, int tensor,
                    RouteVisitor visit) {
  Route route = {.tensor = tensor,
                 .region = demand.region,
                 .source_rank = demand.senders.rank(0),
                 .target_rank = demand.target_rank};
  if (demand.senders.size() == 1) {
    visit(route);
    return;
  }
  const int64_t stripe_bytes = input.options().stripe_bytes;
  const StripeRule rule = {
      .num_senders = demand.senders.size(),
      .item_bytes = input.manifest().tensor(tensor).spec.item_bytes(),
      .stripe_bytes = stripe_bytes,
      .turn = input.line_offset_bytes(tensor) / stripe_bytes,
      .replica = demand.replica};
  Stripe(demand.region, rule, [&](const vps::Box& piece, int sender) {
    route.region = piece;
    route.source_rank = demand.senders.rank(sender);
    visit(route);
  });
}

}  // namespace dynatrain::transition
