// Routing: which rank sends which box to which. The rules, in this order:
//   1. A target keeps what its own process holds.
//   2. Of several copies, one that some rank on its device, in its member or on
//      its node has, else the authoritative one.
//   3. The rest comes from the holders in its nearest group that has any (Tier:
//      device, member, node, rail, anywhere),
//   4. in equal parts of the tensor's line, or, if the input has SenderShares,
//      as those say (Stripe).
// Law: the regions that reach a target rank tile its boxes exactly.
#ifndef TRANSITION_PLAN_ROUTING_H_
#define TRANSITION_PLAN_ROUTING_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "transition/plan/demand.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/route.h"
#include "transition/plan/stripe.h"
#include "vps/geometry/interval.h"

namespace dynatrain::transition {

using RouteVisitor = absl::FunctionRef<void(const Route&)>;

// Where the bytes of a demand for a tensor lie among those that its senders
// divide.
struct DemandPlace {
  vps::Interval bytes;
  Division division;
};

// The one of its senders, by index, that serves all of the demand; -1 if
// several share it.
int OnlySender(const Demand& demand, const DemandPlace& place);

// The route that serves all of the demand from its sender of that index.
Route WholeRoute(const Demand& demand, int sender, int tensor);

// The routes that serve a demand for `tensor`: one per sender at most.
void ForEachRouteAt(const Demand& demand, const DemandPlace& place, int tensor,
                    RouteVisitor visit);

// Goes through the demands of one process. REQUIRES: tensors come in ascending
// order, and of each, once, all the demands of one of TensorClass's lists, in
// its order.
class Router {
 public:
  explicit Router(const PlanInput& input) : input_(input) {}

  DemandPlace PlaceOf(const Demand& demand, int tensor);
  void ForEachRouteOf(const Demand& demand, int tensor, RouteVisitor visit) {
    ForEachRouteAt(demand, PlaceOf(demand, tensor), tensor, visit);
  }

 private:
  const PlanInput& input_;
  // Of groups and targets: the bytes of the demands so far.
  absl::flat_hash_map<std::pair<int, int>, int64_t> bytes_before_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_ROUTING_H_
