#include "transition/stage/task_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "transition/stage/order_bound.h"
#include "transition/stage/order_search.h"

namespace dynatrain::transition {
namespace {

// Looks at a task: for the search that proves, and for each that improves.
constexpr int64_t kMaxSteps = int64_t{1} << 20;
constexpr int kImprovements = 3;

// The task next that leaves most room while it runs; among equal ones the
// first.
std::vector<int> GreedyOrder(const OrderProblem& problem,
                             absl::Span<const int64_t> allowed_bytes) {
  TaskReplay replay(problem);
  std::vector<int> left(problem.num_tasks());
  std::iota(left.begin(), left.end(), 0);
  std::vector<int> order;
  while (!left.empty()) {
    int64_t best_excess = 0;
    auto best = left.end();
    for (auto it = left.begin(); it != left.end(); ++it) {
      const int64_t excess = replay.ExcessOf(*it, allowed_bytes);
      if (best != left.end() && excess >= best_excess) continue;
      best_excess = excess;
      best = it;
    }
    order.push_back(*best);
    replay.Do(*best);
    left.erase(best);
  }
  return order;
}

class Finder {
 public:
  Finder(const OrderProblem& problem, absl::Span<const int64_t> allowed_bytes)
      : problem_(problem), allowed_(allowed_bytes) {
    best_.bound_bytes = OrderBound(problem, allowed_bytes);
    std::vector<int> given(problem.num_tasks());
    std::iota(given.begin(), given.end(), 0);
    best_.excess_bytes = ExcessOf(given);
    best_.tasks = std::move(given);
    Take(GreedyOrder(problem, allowed_bytes));
  }

  TaskOrder Find() && {
    if (problem_.num_tasks() <= kMaxSearchedTasks) {
      if (!best_.proved()) Prove();
      for (int i = 0; i < kImprovements && !best_.proved(); ++i) Improve();
    }
    return std::move(best_);
  }

 private:
  int64_t ExcessOf(absl::Span<const int> order) const {
    return LargestExcess(PeaksOf(problem_, order), allowed_);
  }

  void Take(std::vector<int> order) {
    const int64_t excess = ExcessOf(order);
    if (excess >= best_.excess_bytes) return;
    best_.excess_bytes = excess;
    best_.tasks = std::move(order);
  }

  // Takes an order that the search found, if it did.
  OrderFound Search(int64_t floor_bytes) {
    OrderFound found = SearchOrders(problem_, allowed_, floor_bytes, kMaxSteps);
    if (!found.tasks.empty()) Take(found.tasks);
    return found;
  }

  void Prove() {
    const OrderFound found = Search(best_.bound_bytes);
    best_.bound_bytes = std::min(
        best_.excess_bytes, std::max(best_.bound_bytes, found.reached_bytes));
  }

  // Looks for any order halfway between the best and where none was found.
  void Improve() {
    none_found_ = std::max(none_found_, best_.bound_bytes);
    const int64_t floor = none_found_ + (best_.excess_bytes - none_found_) / 2;
    const OrderFound found = Search(floor);
    if (found.tasks.empty()) none_found_ = floor;
    // To the end, from a floor that was too low.
    if (found.reached_bytes > floor) {
      best_.bound_bytes = std::min(best_.excess_bytes, found.reached_bytes);
    }
  }

  const OrderProblem& problem_;
  const absl::Span<const int64_t> allowed_;
  TaskOrder best_;
  int64_t none_found_ = std::numeric_limits<int64_t>::min();
};

}  // namespace

TaskOrder BestOrder(const OrderProblem& problem,
                    absl::Span<const int64_t> allowed_bytes) {
  return Finder(problem, allowed_bytes).Find();
}

}  // namespace dynatrain::transition
