// Tasks that can't be cut, and the memory that an order of them takes: what a
// task makes before it runs, what it packs while it runs, and what is given
// back once all tasks that need it are done.
#ifndef TRANSITION_STAGE_ORDER_PROBLEM_H_
#define TRANSITION_STAGE_ORDER_PROBLEM_H_

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
  std::vector<BytesAt> makes;  // before it runs; each rank once, ascending
  std::vector<int> touches;    // allocations that it needs, each once
  std::vector<BytesAt> packs;  // only while it runs; each rank once, ascending
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

  int num_tasks() const { return static_cast<int>(tasks.size()); }
  int num_ranks() const { return static_cast<int>(resident.size()); }
};

// The most by which a rank's bytes are above what it is allowed; below 0: the
// least that is left.
int64_t LargestExcess(absl::Span<const int64_t> bytes,
                      absl::Span<const int64_t> allowed_bytes);

// The peak of each rank over the tasks in that order, the beginning included.
std::vector<int64_t> PeaksOf(const OrderProblem& problem,
                             absl::Span<const int> order);

// What the tasks of an order add and take, step by step. A copy goes on from
// where the original is.
class TaskReplay {
 public:
  // `problem` outlives the replay.
  explicit TaskReplay(const OrderProblem& problem);

  // What the task would make now, ascending by rank. REQUIRES: it isn't done.
  absl::Span<const BytesAt> MakesOf(int task) const { return makes_[task]; }
  // The most by which a rank that the task makes or packs on would be above
  // what it is allowed while it runs; INT64_MIN if there is none.
  int64_t ExcessOf(int task, absl::Span<const int64_t> allowed_bytes) const;
  // Does the task; returns the releases that it ends, by index.
  std::vector<int> Do(int task);

  absl::Span<const int64_t> resident() const { return resident_; }
  bool IsMade(int allocation) const { return made_[allocation]; }
  bool IsDone(int task) const { return done_[task]; }
  // Of the releases of the task, those that it would end now, by index.
  std::vector<int> EndsOf(int task) const;

 private:
  void Make(int allocation);

  const OrderProblem* problem_;
  std::vector<int64_t> resident_;
  std::vector<bool> made_;
  std::vector<bool> done_;
  std::vector<std::vector<BytesAt>> makes_;    // by task, if it were next
  std::vector<std::vector<int>> touchers_;     // tasks, by allocation
  std::vector<std::vector<int>> releases_of_;  // by task
  std::vector<int> left_;                      // tasks, by release
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_ORDER_PROBLEM_H_
