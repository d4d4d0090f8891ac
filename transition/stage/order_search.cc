#include "transition/stage/order_search.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace dynatrain::transition {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// A set of tasks that are done.
struct Node {
  int parent = -1;
  std::vector<int> added;  // tasks, in order, since the parent
  int num_done = 0;
  int64_t excess = 0;  // of the best way here
  int next_child = 0;  // of those it has, best first
};

// Of the node, when its next child is looked at.
struct Waiting {
  int64_t excess = 0;
  int num_done = 0;
  int node = 0;

  // The least excess, the most done, the last made are first in a queue.
  bool operator<(const Waiting& other) const {
    return std::tuple(-excess, num_done, node) <
           std::tuple(-other.excess, other.num_done, other.node);
  }
};

// Where a set of tasks leaves all ranks.
class State {
 public:
  State(const OrderProblem& problem, absl::Span<const int64_t> allowed_bytes)
      : problem_(&problem),
        allowed_(allowed_bytes),
        replay_(problem),
        to_make_(problem.num_ranks()),
        most_packed_(problem.num_ranks()),
        set_((problem.num_tasks() + 7) / 8, '\0') {
    std::vector<bool> touched(problem.allocations.size());
    for (const OrderTask& task : problem.tasks) {
      for (const BytesAt& it : task.makes) to_make_[it.rank] += it.bytes;
      for (const BytesAt& it : task.packs) {
        most_packed_[it.rank] = std::max(most_packed_[it.rank], it.bytes);
      }
      for (const int it : task.touches) {
        if (touched[it]) continue;
        touched[it] = true;
        to_make_[problem.allocations[it].rank] += problem.allocations[it].bytes;
      }
    }
  }

  const std::string& set() const { return set_; }
  bool IsDone(int task) const { return replay_.IsDone(task); }
  int64_t ExcessOf(int task) const { return replay_.ExcessOf(task, allowed_); }

  void Do(int task) {
    for (const BytesAt& it : replay_.MakesOf(task)) {
      to_make_[it.rank] -= it.bytes;
    }
    replay_.Do(task);
    set_[task / 8] = static_cast<char>(set_[task / 8] | (1 << (task % 8)));
  }

  // Whether the task leaves no rank with more, but those that are never above
  // `excess`.
  bool LeavesNoMore(int task, int64_t excess) const {
    const std::vector<int> ends = replay_.EndsOf(task);
    for (const BytesAt& it : replay_.MakesOf(task)) {
      int64_t freed = 0;
      for (const int end : ends) {
        const BytesAt& memory = problem_->releases[end].memory;
        if (memory.rank == it.rank) freed += memory.bytes;
      }
      const int64_t at_most = replay_.resident()[it.rank] - freed +
                              to_make_[it.rank] + most_packed_[it.rank] -
                              allowed_[it.rank];
      if (it.bytes > freed && at_most > excess) return false;
    }
    return true;
  }

  // After the task, on the fullest of the ranks that it makes on.
  int64_t ExcessAfter(int task) const {
    const std::vector<int> ends = replay_.EndsOf(task);
    int64_t excess = std::numeric_limits<int64_t>::min();
    for (const BytesAt& it : replay_.MakesOf(task)) {
      int64_t bytes = replay_.resident()[it.rank] + it.bytes;
      for (const int end : ends) {
        const BytesAt& memory = problem_->releases[end].memory;
        if (memory.rank == it.rank) bytes -= memory.bytes;
      }
      excess = std::max(excess, bytes - allowed_[it.rank]);
    }
    return excess;
  }

 private:
  const OrderProblem* problem_;
  absl::Span<const int64_t> allowed_;
  TaskReplay replay_;
  std::vector<int64_t> to_make_;      // by rank, of all that isn't made yet
  std::vector<int64_t> most_packed_;  // by rank, of one task
  std::string set_;                   // a bit for each task
};

class Search {
 public:
  Search(const OrderProblem& problem, absl::Span<const int64_t> allowed_bytes,
         int64_t floor_bytes, int64_t max_steps)
      : problem_(problem),
        begin_(problem, allowed_bytes),
        floor_(std::max(floor_bytes,
                        LargestExcess(problem.resident, allowed_bytes))),
        steps_left_(max_steps) {}

  OrderFound Run() && {
    Add(-1, {}, begin_, floor_);
    while (!waiting_.empty()) {
      const Waiting next = waiting_.top();
      waiting_.pop();
      if (next.num_done == problem_.num_tasks()) {
        return {OrderOf(next.node), next.excess};
      }
      if (steps_left_ <= 0) return {{}, next.excess};
      Expand(next);
    }
    return {{}, kMost};
  }

 private:
  // While it runs, then after it, then its number.
  using Child = std::tuple<int64_t, int64_t, int>;

  State StateOf(int node) const {
    std::vector<const Node*> path;
    for (int i = node; i >= 0; i = nodes_[i].parent) path.push_back(&nodes_[i]);
    State state = begin_;
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      for (const int task : (*it)->added) state.Do(task);
    }
    return state;
  }

  std::vector<int> OrderOf(int node) const {
    std::vector<const Node*> path;
    for (int i = node; i >= 0; i = nodes_[i].parent) path.push_back(&nodes_[i]);
    std::vector<int> order;
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      order.insert(order.end(), (*it)->added.begin(), (*it)->added.end());
    }
    return order;
  }

  // One child at a time, so that there are no more nodes than steps.
  void Expand(const Waiting& at) {
    State state = StateOf(at.node);
    std::vector<Child> children;
    for (int task = 0; task < problem_.num_tasks(); ++task) {
      if (state.IsDone(task)) continue;
      children.emplace_back(
          std::max(nodes_[at.node].excess, state.ExcessOf(task)),
          state.ExcessAfter(task), task);
    }
    steps_left_ -= problem_.num_tasks();
    const auto next = children.begin() + nodes_[at.node].next_child;
    std::nth_element(children.begin(), next, children.end());
    const auto [excess, after, task] = *next;
    // Others may be better by now.
    if (excess > at.excess) {
      return waiting_.push({excess, at.num_done, at.node});
    }
    ++nodes_[at.node].next_child;
    if (next + 1 != children.end()) {
      const Child other = *std::min_element(next + 1, children.end());
      waiting_.push({std::get<0>(other), at.num_done, at.node});
    }
    state.Do(task);
    Add(at.node, {task}, std::move(state), excess);
  }

  // If nobody was there before.
  void Add(int parent, std::vector<int> added, State state, int64_t excess) {
    const int num_before = parent < 0 ? 0 : nodes_[parent].num_done;
    DoWhatIsFree(state, excess, added);
    if (!seen_.insert(state.set()).second) return;
    const int num_done = num_before + static_cast<int>(added.size());
    nodes_.push_back({parent, std::move(added), num_done, excess});
    waiting_.push({excess, num_done, static_cast<int>(nodes_.size()) - 1});
  }

  void DoWhatIsFree(State& state, int64_t excess, std::vector<int>& added) {
    for (bool changed = true; changed;) {
      changed = false;
      steps_left_ -= problem_.num_tasks();
      for (int task = 0; task < problem_.num_tasks(); ++task) {
        if (state.IsDone(task) || state.ExcessOf(task) > excess ||
            !state.LeavesNoMore(task, excess)) {
          continue;
        }
        state.Do(task);
        added.push_back(task);
        changed = true;
      }
    }
  }

  const OrderProblem& problem_;
  const State begin_;
  const int64_t floor_;
  int64_t steps_left_;
  std::vector<Node> nodes_;
  std::priority_queue<Waiting> waiting_;
  absl::flat_hash_set<std::string> seen_;  // looked up, never listed
};

}  // namespace

OrderFound SearchOrders(const OrderProblem& problem,
                        absl::Span<const int64_t> allowed_bytes,
                        int64_t floor_bytes, int64_t max_steps) {
  return Search(problem, allowed_bytes, floor_bytes, max_steps).Run();
}

}  // namespace dynatrain::transition
