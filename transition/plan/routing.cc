#include "transition/plan/routing.h"

#include "transition/plan/stripe.h"

namespace dynatrain::transition {

int OnlyPartOf(const PlanInput& input, const Demand& demand, int tensor) {
  if (demand.senders.size() == 1) return 0;
  const LineSpan& span = input.line_span(tensor);
  return OnlyPart(demand.region, {span.begin_bytes, span.end_bytes},
                  Division::Equal(span.line_bytes, demand.senders.size()));
}

Route WholeRoute(const Demand& demand, int sender, int tensor) {
  return {.tensor = tensor,
          .region = demand.region,
          .source_rank = demand.senders.rank(sender),
          .target_rank = demand.target_rank,
          .source_copy = demand.source_copy,
          .target_copy = demand.target_copy};
}

void ForEachRouteOf(const PlanInput& input, const Demand& demand, int tensor,
                    RouteVisitor visit) {
  if (demand.senders.size() == 1) return visit(WholeRoute(demand, 0, tensor));
  const LineSpan& span = input.line_span(tensor);
  Stripe(demand.region, {span.begin_bytes, span.end_bytes},
         Division::Equal(span.line_bytes, demand.senders.size()),
         [&](const vps::Box& piece, int part) {
           Route route = WholeRoute(demand, part, tensor);
           route.region = piece;
           visit(route);
         });
}

}  // namespace dynatrain::transition
