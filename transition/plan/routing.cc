#include "transition/plan/routing.h"

namespace dynatrain::transition {

int OnlySender(const Demand& demand, const DemandPlace& place) {
  return OnlyPart(demand.region, place.bytes, place.division);
}

Route WholeRoute(const Demand& demand, int sender, int tensor) {
  return {.tensor = tensor,
          .region = demand.region,
          .source_rank = demand.senders.rank(sender),
          .target_rank = demand.target_rank,
          .source_copy = demand.source_copy,
          .target_copy = demand.target_copy};
}

void ForEachRouteAt(const Demand& demand, const DemandPlace& place, int tensor,
                    RouteVisitor visit) {
  Stripe(demand.region, place.bytes, place.division,
         [&](const vps::Box& piece, int part) {
           Route route = WholeRoute(demand, part, tensor);
           route.region = piece;
           visit(route);
         });
}

DemandPlace Router::PlaceOf(const Demand& demand, int tensor) {
  const SharedGroup* group = demand.senders.group();
  if (group == nullptr) {
    const LineSpan& span = input_.line_span(tensor);
    return {{span.begin_bytes, span.end_bytes},
            Division::Equal(span.line_bytes, demand.senders.size())};
  }
  int64_t& before = bytes_before_[{group->id, demand.target_rank}];
  const int64_t begin = group->begin_of_target.at(demand.target_rank) + before;
  const int64_t bytes =
      demand.region.num_elements() * input_.item_bytes(tensor);
  before += bytes;
  return {{begin, begin + bytes}, Division::At(group->cuts)};
}

}  // namespace dynatrain::transition
