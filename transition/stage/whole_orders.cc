#include "transition/stage/whole_orders.h"

#include <algorithm>
#include <utility>

#include "transition/stage/task_order.h"

namespace dynatrain::transition {
namespace {

std::vector<int64_t> Minus(std::vector<int64_t> a,
                           absl::Span<const int64_t> b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

std::vector<int64_t> PeaksWith(const PartTable& table,
                               std::vector<RankRoom> rooms) {
  std::vector<int64_t> peaks;
  for (const RankRoom& it : rooms) peaks.push_back(it.resident_bytes);
  for (int64_t part = 0; part < table.num_parts(); ++part) {
    for (size_t rank = 0; rank < rooms.size(); ++rank) {
      const PartBytes& bytes = table.part(part)[rank];
      peaks[rank] = std::max(peaks[rank], rooms[rank].PeakBytes(bytes));
      rooms[rank].Finish(bytes);
    }
  }
  return peaks;
}

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
  const std::vector<int64_t> none(rooms.rooms.size());
  WholeOrders found = {.proved = tasks.indivisible};
  for (const std::vector<int64_t>& goal :
       {rooms.larger_bytes, none, rooms.allowed_bytes}) {
    // What packing takes is about the same in each task.
    TaskOrder order = BestOrder(tasks.problem, Minus(goal, rooms.slot_bytes));
    const bool is_least = found.orders.size() < 2;
    if (is_least && !order.proved) found.proved = false;
    const PartTable table = TableOf(moves, tasks, order.tasks);
    found.orders.push_back(
        {std::move(order.tasks), PeaksWith(table, rooms.rooms)});
  }
  const auto least = [&](absl::Span<const int64_t> goal) {
    return LargestExcess(found.BestFor(goal).peak_bytes, goal);
  };
  found.least_budget_bytes = least(rooms.larger_bytes);
  found.least_limit_bytes = least(none);
  return found;
}

}  // namespace dynatrain::transition
