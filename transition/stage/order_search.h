// Search for the order of tasks that needs least memory. What a rank has after
// a set of tasks does not depend on their order, so orders are paths through
// sets; the best path is one whose largest step is least. The search goes from
// set to set, that of the least excess so far first (among equals, the one with
// most tasks done), so the first way to the end is a best one, and whenever the
// search is ended early no order has less than where it had come to.
//
// What makes it fast enough: what a rank has is a submodular function of the
// set (what is made counts once, what is given back waits for all of its
// tasks), so a task that leaves no rank with more than before never leaves more
// later. It is done at once wherever it fits. Ranks that can't come above what
// they are allowed any more, even if nothing were given back, don't count.
#ifndef TRANSITION_STAGE_ORDER_SEARCH_H_
#define TRANSITION_STAGE_ORDER_SEARCH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "transition/stage/order_problem.h"

namespace dynatrain::transition {

struct OrderFound {
  // An order with the least excess there is, or one not above `floor_bytes`.
  // Empty if the search ended before it (or there are no tasks).
  std::vector<int> tasks;
  // If above the floor: no order has an excess below this.
  int64_t reached_bytes = 0;
};

// Excess up to `floor_bytes` is good enough: with the floor of an order that is
// wanted, the search looks for any such order. It ends after looking at
// `max_steps` tasks, the same on every machine.
OrderFound SearchOrders(const OrderProblem& problem,
                        absl::Span<const int64_t> allowed_bytes,
                        int64_t floor_bytes, int64_t max_steps);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_ORDER_SEARCH_H_
