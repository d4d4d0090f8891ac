#include "transition/plan/routing.h"

#include "transition/plan/stripe.h"

namespace dynatrain::transition {

void ForEachRouteOf(const PlanInput& input, const Demand& demand, int tensor,
                    RouteVisitor visit) {
  Route route = {.tensor = tensor,
                 .region = demand.region,
                 .source_rank = demand.senders.rank(0),
                 .target_rank = demand.target_rank,
                 .source_copy = demand.source_copy,
                 .target_copy = demand.target_copy};
  if (demand.senders.size() == 1) {
    visit(route);
    return;
  }
  Stripe(demand.region, input.line_span(tensor), demand.senders.size(),
         [&](const vps::Box& piece, int part) {
           route.region = piece;
           route.source_rank = demand.senders.rank(part);
           visit(route);
         });
}

}  // namespace dynatrain::transition
