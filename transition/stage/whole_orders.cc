#include "transition/stage/whole_orders.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "transition/stage/order_bound.h"
#include "transition/stage/order_problem.h"
#include "transition/stage/task_order.h"

namespace dynatrain::transition {
namespace {

class Finder {
 public:
  Finder(const Moves& moves, const WholeTasks& tasks, const WholeRooms& rooms)
      : tasks_(tasks), rooms_(rooms), problem_(tasks.problem) {
    std::vector<int> given(problem_.num_tasks());
    std::iota(given.begin(), given.end(), 0);
    const PartTable table = TableOf(moves, tasks, given);
    AddPacking(table);
    SetEnd(table);
  }

  WholeOrders Find() && {
    const std::vector<int64_t> none(problem_.num_ranks());
    found_.budget.bound = Add(rooms_.larger_bytes);
    found_.limit.bound = Add(none);
    found_.budget.found = Least(rooms_.larger_bytes);
    found_.limit.found = Least(none);
    if (Least(rooms_.allowed_bytes) > 0) Add(rooms_.allowed_bytes);
    return std::move(found_);
  }

 private:
  void AddPacking(const PartTable& table) {
    for (int task = 0; task < problem_.num_tasks(); ++task) {
      for (int rank = 0; rank < problem_.num_ranks(); ++rank) {
        const int64_t bytes =
            rooms_.rooms[rank].StagingBytes(table.part(task)[rank]);
        if (bytes > 0) problem_.tasks[task].packs.push_back({rank, bytes});
      }
    }
  }

  // After all tasks, with zeros: no order changes it.
  void SetEnd(const PartTable& table) {
    end_ = problem_.resident;
    for (int64_t part = 0; part < table.num_parts(); ++part) {
      for (int rank = 0; rank < problem_.num_ranks(); ++rank) {
        const PartBytes& bytes = table.part(part)[rank];
        end_[rank] += bytes.made - bytes.freed;
      }
    }
  }

  // Adds the best order for the goal; returns what no order is below.
  int64_t Add(absl::Span<const int64_t> goal) {
    TaskOrder order = BestOrder(problem_, goal);
    const int64_t bound = order.bound_bytes;
    std::vector<int64_t> peaks = PeaksOf(problem_, order.tasks);
    for (int rank = 0; rank < problem_.num_ranks(); ++rank) {
      peaks[rank] = std::max(peaks[rank], end_[rank]);
    }
    found_.orders.push_back({std::move(order.tasks), std::move(peaks)});
    const int64_t ends = std::max(LargestExcess(problem_.resident, goal),
                                  LargestExcess(end_, goal));
    if (!tasks_.indivisible) return ends;
    return std::max(ends, tasks_.unjoined.has_value()
                              ? OrderBound(*tasks_.unjoined, goal)
                              : bound);
  }

  int64_t Least(absl::Span<const int64_t> goal) const {
    return LargestExcess(found_.BestFor(goal).peak_bytes, goal);
  }

  const WholeTasks& tasks_;
  const WholeRooms& rooms_;
  OrderProblem problem_;  // with what packing takes
  std::vector<int64_t> end_;
  WholeOrders found_;
};

}  // namespace

const WholeOrder& WholeOrders::BestFor(
    absl::Span<const int64_t> allowed_bytes) const {
  return *std::min_element(orders.begin(), orders.end(),
                           [&](const WholeOrder& a, const WholeOrder& b) {
                             return LargestExcess(a.peak_bytes, allowed_bytes) <
                                    LargestExcess(b.peak_bytes, allowed_bytes);
                           });
}

WholeOrders FindOrders(const Moves& moves, const WholeTasks& tasks,
                       const WholeRooms& rooms) {
  return Finder(moves, tasks, rooms).Find();
}

}  // namespace dynatrain::transition
