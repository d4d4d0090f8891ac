// The order of tasks that can't be cut, for the least memory: where memory is
// given back only as a whole, what is done together decides the peak, and in
// which order. (Register allocation: NP-hard in general.)
//
// All orders are searched (order_search.h) as far as a bounded effort goes; up
// to a dozen tasks that is always to the end, and mostly far beyond. Where it
// isn't, the best order that was found comes with a bound that no order is
// below.
#ifndef TRANSITION_STAGE_TASK_ORDER_H_
#define TRANSITION_STAGE_TASK_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "transition/stage/order_problem.h"

namespace dynatrain::transition {

struct TaskOrder {
  std::vector<int> tasks;
  // The most by which a rank's peak is above what it is allowed; below 0: the
  // least that is left.
  int64_t excess_bytes = 0;
  // No order has less.
  int64_t bound_bytes = 0;

  bool proved() const { return excess_bytes == bound_bytes; }
};

// Above, no orders are searched: the better of the given order and of always
// the task that leaves most room, with OrderBound.
inline constexpr int kMaxSearchedTasks = 512;

// For `allowed_bytes` by rank; the excess is over all ranks. At most some
// 10^7 looks at a task.
TaskOrder BestOrder(const OrderProblem& problem,
                    absl::Span<const int64_t> allowed_bytes);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_TASK_ORDER_H_
