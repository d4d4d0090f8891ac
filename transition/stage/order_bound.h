// What no order of tasks can do without: a bound from below for the search, and
// to print where there are too many tasks to search all orders.
#ifndef TRANSITION_STAGE_ORDER_BOUND_H_
#define TRANSITION_STAGE_ORDER_BOUND_H_

#include <cstdint>

#include "absl/types/span.h"
#include "transition/stage/order_problem.h"

namespace dynatrain::transition {

// No order has an excess (see TaskOrder) below: the largest of
//   - what there is before all tasks, and after all;
//   - what the easiest first task needs, and the easiest last one;
//   - for each rank, if it were alone: what must be made before anything is
//     given back, what must still be there when the last is made, and the best
//     order of its tasks if what several share counted for one of them.
// O(n log n) in the size of the problem.
int64_t OrderBound(const OrderProblem& problem,
                   absl::Span<const int64_t> allowed_bytes);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_ORDER_BOUND_H_
