// Orders of a plan's tasks where allocations count as a whole: which needs the
// least budget, which the least limit, and which suits what is allowed.
#ifndef TRANSITION_STAGE_WHOLE_ORDERS_H_
#define TRANSITION_STAGE_WHOLE_ORDERS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "transition/schedule/moves.h"
#include "transition/stage/part_bytes.h"
#include "transition/stage/whole_tasks.h"

namespace dynatrain::transition {

struct WholeOrder {
  std::vector<int> tasks;
  std::vector<int64_t> peak_bytes;  // by rank, staging included, task by task
};

struct WholeOrders {
  std::vector<WholeOrder> orders;
  int64_t least_budget_bytes = 0;  // beyond `larger_bytes`
  int64_t least_limit_bytes = 0;
  bool proved = false;  // no order needs less

  // The one whose peaks are least above what is allowed.
  const WholeOrder& BestFor(absl::Span<const int64_t> allowed_bytes) const;
};

// All by rank: what there is before the first task, what packing takes at most,
// the larger of source and target, and what is allowed.
struct WholeRooms {
  std::vector<RankRoom> rooms;
  std::vector<int64_t> slot_bytes;
  std::vector<int64_t> larger_bytes;
  std::vector<int64_t> allowed_bytes;
};

WholeOrders FindOrders(const Moves& moves, const WholeTasks& tasks,
                       const WholeRooms& rooms);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_WHOLE_ORDERS_H_
