// Tasks of a plan some of whose allocations can only be given back, or made, as
// a whole. All that is read from one such allocation is a task, since nothing
// is given back before all of it is done; of the rest, all that is written into
// one that is made as a whole; and what is left is cut by its place on the
// lines. Atoms are not cut.
#ifndef TRANSITION_STAGE_WHOLE_TASKS_H_
#define TRANSITION_STAGE_WHOLE_TASKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "transition/schedule/moves.h"
#include "transition/stage/lines.h"
#include "transition/stage/order_problem.h"
#include "transition/stage/part_bytes.h"
#include "transition/stage/stage_contents.h"
#include "transition/stage/stage_plan.h"
#include "transition/stage/world_memory.h"

namespace dynatrain::transition {

// More are put together with their neighbours.
inline constexpr int kMaxTasks = 2048;

struct WholeTasks {
  using Task = std::vector<MoveFragment>;

  OrderProblem problem;
  std::vector<Task> tasks;                        // as in the problem
  std::vector<std::vector<RankPiece>> released;   // by release
  std::vector<std::vector<RankPiece>> allocated;  // by allocation
  // By rank, of target pieces by extents that become zero: made behind all
  // tasks, with the allocations that none touches.
  std::vector<int64_t> zero_bytes;
  std::vector<RankPiece> unused;  // StagePlan
  // No task could be cut (into other than smaller messages): a best order of
  // tasks is a best plan.
  bool indivisible = true;
  // The problem before neighbours were put together, where they were.
  std::optional<OrderProblem> unjoined;
};

bool AnyWhole(const WorldMemory& memory);

// REQUIRES: TotalsOf accepts the memory; no move is passed on (kSource only).
WholeTasks MakeWholeTasks(const Moves& moves, const Lines& lines,
                          const WorldMemory& memory);

// A part for each task of the order, and one behind them for zeros.
PartTable TableOf(const Moves& moves, const WholeTasks& tasks,
                  absl::Span<const int> order);

// Of stages that end at these parts of TableOf(tasks, order).
std::vector<StageContents> ContentsOf(const Moves& moves,
                                      const WholeTasks& tasks,
                                      absl::Span<const int> order,
                                      absl::Span<const int64_t> stage_ends);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_WHOLE_TASKS_H_
