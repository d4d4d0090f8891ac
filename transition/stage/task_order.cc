#include "transition/stage/task_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace dynatrain::transition {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

int NumTasks(const OrderProblem& problem) {
  return static_cast<int>(problem.tasks.size());
}

// No order has less: all begin alike and end alike.
int64_t LowerBound(const OrderProblem& problem,
                   absl::Span<const int64_t> allowed_bytes) {
  std::vector<int> all(problem.tasks.size());
  std::iota(all.begin(), all.end(), 0);
  TaskReplay replay(problem);
  for (const int task : all) replay.Do(task);
  return std::max(LargestExcess(problem.resident, allowed_bytes),
                  LargestExcess(replay.resident(), allowed_bytes));
}

// Exact: over sets of tasks that are done.
class Exact {
 public:
  Exact(const OrderProblem& problem, absl::Span<const int64_t> allowed_bytes)
      : problem_(problem),
        allowed_(allowed_bytes),
        num_sets_(1u << problem.tasks.size()) {}

  TaskOrder Find() && {
    std::vector<int64_t> least(num_sets_, std::numeric_limits<int64_t>::max());
    std::vector<int> last(num_sets_, -1);
    least[0] = LargestExcess(problem_.resident, allowed_);
    for (uint32_t set = 0; set < num_sets_; ++set) {
      const std::vector<int64_t> freed = Freed(set);
      for (int task = 0; task < NumTasks(problem_); ++task) {
        const uint32_t next = set | (1u << task);
        if (next == set) continue;
        const int64_t excess = std::max(least[set], ExcessWith(next, freed));
        if (excess >= least[next]) continue;
        least[next] = excess;
        last[next] = task;
      }
    }
    TaskOrder order = {.excess_bytes = least[num_sets_ - 1], .proved = true};
    for (uint32_t set = num_sets_ - 1; set != 0; set &= ~(1u << last[set])) {
      order.tasks.push_back(last[set]);
    }
    std::reverse(order.tasks.begin(), order.tasks.end());
    return order;
  }

 private:
  static bool Has(uint32_t set, int task) { return (set >> task) & 1; }

  std::vector<int64_t> Freed(uint32_t set) const {
    std::vector<int64_t> freed(problem_.resident.size());
    for (const TaskRelease& it : problem_.releases) {
      if (std::all_of(it.tasks.begin(), it.tasks.end(),
                      [&](int task) { return Has(set, task); })) {
        freed[it.memory.rank] += it.memory.bytes;
      }
    }
    return freed;
  }

  // While the last task of `set` runs, when `freed` was given back before.
  int64_t ExcessWith(uint32_t set, const std::vector<int64_t>& freed) {
    std::vector<int64_t>& bytes = made_[set];
    if (bytes.empty()) bytes = Made(set);
    int64_t excess = kLeast;
    for (size_t rank = 0; rank < bytes.size(); ++rank) {
      excess = std::max(excess, problem_.resident[rank] + bytes[rank] -
                                    freed[rank] - allowed_[rank]);
    }
    return excess;
  }

  std::vector<int64_t> Made(uint32_t set) const {
    std::vector<int64_t> made(problem_.resident.size());
    std::vector<bool> touched(problem_.allocations.size());
    for (int task = 0; task < NumTasks(problem_); ++task) {
      if (!Has(set, task)) continue;
      for (const BytesAt& it : problem_.tasks[task].makes) {
        made[it.rank] += it.bytes;
      }
      for (const int it : problem_.tasks[task].touches) {
        if (touched[it]) continue;
        touched[it] = true;
        made[problem_.allocations[it].rank] += problem_.allocations[it].bytes;
      }
    }
    return made;
  }

  const OrderProblem& problem_;
  const absl::Span<const int64_t> allowed_;
  const uint32_t num_sets_;
  std::vector<std::vector<int64_t>> made_ =
      std::vector<std::vector<int64_t>>(num_sets_);
};

// The task next that leaves most room while it runs; among equal ones the
// first.
std::vector<int> GreedyOrder(const OrderProblem& problem,
                             absl::Span<const int64_t> allowed_bytes) {
  TaskReplay replay(problem);
  std::vector<int> left(problem.tasks.size());
  std::iota(left.begin(), left.end(), 0);
  std::vector<int> order;
  while (!left.empty()) {
    int64_t best_excess = 0;
    auto best = left.end();
    for (auto it = left.begin(); it != left.end(); ++it) {
      int64_t excess = kLeast;
      for (const BytesAt& made : replay.MakesOf(*it)) {
        excess = std::max(excess, replay.resident()[made.rank] + made.bytes -
                                      allowed_bytes[made.rank]);
      }
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

}  // namespace

int64_t LargestExcess(absl::Span<const int64_t> bytes,
                      absl::Span<const int64_t> allowed_bytes) {
  int64_t excess = kLeast;
  for (size_t rank = 0; rank < bytes.size(); ++rank) {
    excess = std::max(excess, bytes[rank] - allowed_bytes[rank]);
  }
  return excess;
}

TaskReplay::TaskReplay(const OrderProblem& problem)
    : problem_(problem),
      resident_(problem.resident),
      made_(problem.allocations.size()),
      releases_of_(problem.tasks.size()) {
  for (int i = 0; i < static_cast<int>(problem.releases.size()); ++i) {
    left_.push_back(static_cast<int>(problem.releases[i].tasks.size()));
    for (const int task : problem.releases[i].tasks) {
      releases_of_[task].push_back(i);
    }
  }
}

std::vector<BytesAt> TaskReplay::MakesOf(int task) const {
  std::vector<BytesAt> makes = problem_.tasks[task].makes;
  for (const int allocation : problem_.tasks[task].touches) {
    if (!made_[allocation]) makes.push_back(problem_.allocations[allocation]);
  }
  std::sort(makes.begin(), makes.end());
  std::vector<BytesAt> sums;
  for (const BytesAt& it : makes) {
    if (sums.empty() || sums.back().rank != it.rank) {
      sums.push_back(it);
    } else {
      sums.back().bytes += it.bytes;
    }
  }
  return sums;
}

std::vector<int> TaskReplay::Do(int task) {
  for (const BytesAt& it : MakesOf(task)) resident_[it.rank] += it.bytes;
  for (const int it : problem_.tasks[task].touches) made_[it] = true;
  std::vector<int> ended;
  for (const int release : releases_of_[task]) {
    if (--left_[release] > 0) continue;
    const BytesAt& memory = problem_.releases[release].memory;
    resident_[memory.rank] -= memory.bytes;
    ended.push_back(release);
  }
  return ended;
}

std::vector<int64_t> PeaksOf(const OrderProblem& problem,
                             absl::Span<const int> order) {
  TaskReplay replay(problem);
  std::vector<int64_t> peaks = problem.resident;
  for (const int task : order) {
    for (const BytesAt& it : replay.MakesOf(task)) {
      peaks[it.rank] =
          std::max(peaks[it.rank], replay.resident()[it.rank] + it.bytes);
    }
    replay.Do(task);
  }
  return peaks;
}

TaskOrder BestOrder(const OrderProblem& problem,
                    absl::Span<const int64_t> allowed_bytes) {
  if (NumTasks(problem) <= kMaxExactTasks) {
    return Exact(problem, allowed_bytes).Find();
  }
  TaskOrder best;
  std::vector<int> given(problem.tasks.size());
  std::iota(given.begin(), given.end(), 0);
  for (std::vector<int>& order : std::vector<std::vector<int>>{
           GreedyOrder(problem, allowed_bytes), std::move(given)}) {
    const int64_t excess =
        LargestExcess(PeaksOf(problem, order), allowed_bytes);
    if (!best.tasks.empty() && excess >= best.excess_bytes) continue;
    best = {std::move(order), excess};
  }
  best.proved = best.excess_bytes == LowerBound(problem, allowed_bytes);
  return best;
}

}  // namespace dynatrain::transition
