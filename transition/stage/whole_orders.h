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

// The least that was found, and what no order is below.
struct LeastBytes {
  int64_t found = 0;
  int64_t bound = 0;
};

struct WholeOrders {
  std::vector<WholeOrder> orders;
  LeastBytes budget;  // beyond `larger_bytes`
  LeastBytes limit;

  // The one whose peaks are least above what is allowed.
  const WholeOrder& BestFor(absl::Span<const int64_t> allowed_bytes) const;
};

// All by rank: what staging takes, the larger of source and target, and what is
// allowed.
struct WholeRooms {
  std::vector<RankRoom> rooms;
  std::vector<int64_t> larger_bytes;
  std::vector<int64_t> allowed_bytes;
};

WholeOrders FindOrders(const Moves& moves, const WholeTasks& tasks,
                       const WholeRooms& rooms);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_WHOLE_ORDERS_H_
