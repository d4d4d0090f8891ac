// The order of tasks that can't be cut, for the least memory: where memory is
// given back only as a whole, what is done together decides the peak, and in
// which order. (Register allocation: NP-hard in general.)
//
// What a rank has after a set of tasks does not depend on their order, so up to
// some twelve tasks the best order is found exactly, over all sets. Beyond, the
// better of two: always the task that leaves most room, and the given order.
#ifndef TRANSITION_STAGE_TASK_ORDER_H_
#define TRANSITION_STAGE_TASK_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace dynatrain::transition {

// On one rank.
struct BytesAt {
  int rank = 0;
  int64_t bytes = 0;
  friend auto operator<=>(const BytesAt&, const BytesAt&) = default;
  friend bool operator==(const BytesAt&, const BytesAt&) = default;
};

struct OrderTask {
  std::vector<BytesAt> makes;  // before it runs; each rank once
  std::vector<int> touches;    // allocations that it needs, each once
};

// Memory that is given back when all of its tasks are done.
struct TaskRelease {
  BytesAt memory;
  std::vector<int> tasks;  // ascending, at least one
};

struct OrderProblem {
  std::vector<int64_t> resident;  // by rank, before all tasks
  std::vector<OrderTask> tasks;
  // Made as a whole before the first task that touches them.
  std::vector<BytesAt> allocations;
  std::vector<TaskRelease> releases;
};

struct TaskOrder {
  std::vector<int> tasks;
  // The most by which a rank's peak is above what it is allowed; below 0: the
  // least that is left.
  int64_t excess_bytes = 0;
  bool proved = false;  // there is no better order
};

// The most by which a rank's bytes are above what it is allowed.
int64_t LargestExcess(absl::Span<const int64_t> bytes,
                      absl::Span<const int64_t> allowed_bytes);

// The peak of each rank over the tasks in that order, the beginning included.
std::vector<int64_t> PeaksOf(const OrderProblem& problem,
                             absl::Span<const int> order);

// For `allowed_bytes` by rank; the excess is over all ranks. O(2^tasks) up to
// kMaxExactTasks, else O(tasks^2).
inline constexpr int kMaxExactTasks = 12;
TaskOrder BestOrder(const OrderProblem& problem,
                    absl::Span<const int64_t> allowed_bytes);

// What the tasks of an order add and take, step by step.
class TaskReplay {
 public:
  // `problem` outlives the replay.
  explicit TaskReplay(const OrderProblem& problem);

  // What the task would make now, ascending by rank.
  std::vector<BytesAt> MakesOf(int task) const;
  // Does the task; returns the releases that it ends, by index.
  std::vector<int> Do(int task);
  absl::Span<const int64_t> resident() const { return resident_; }
  bool IsMade(int allocation) const { return made_[allocation]; }

 private:
  const OrderProblem& problem_;
  std::vector<int64_t> resident_;
  std::vector<bool> made_;
  std::vector<std::vector<int>> releases_of_;  // by task
  std::vector<int> left_;                      // tasks, by release
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_TASK_ORDER_H_
