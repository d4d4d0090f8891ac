#include "transition/stage/order_problem.h"

#include <algorithm>
#include <limits>

namespace dynatrain::transition {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Adds (or takes, if below 0) bytes; those of 0 bytes are left out.
void AddTo(std::vector<BytesAt>& sums, const BytesAt& bytes) {
  const auto it = std::lower_bound(
      sums.begin(), sums.end(), bytes.rank,
      [](const BytesAt& a, int rank) { return a.rank < rank; });
  if (it == sums.end() || it->rank != bytes.rank) {
    sums.insert(it, bytes);
  } else if ((it->bytes += bytes.bytes) == 0) {
    sums.erase(it);
  }
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
    : problem_(&problem),
      resident_(problem.resident),
      made_(problem.allocations.size()),
      done_(problem.tasks.size()),
      touchers_(problem.allocations.size()),
      releases_of_(problem.tasks.size()) {
  for (int task = 0; task < problem.num_tasks(); ++task) {
    makes_.push_back(problem.tasks[task].makes);
    for (const int allocation : problem.tasks[task].touches) {
      AddTo(makes_.back(), problem.allocations[allocation]);
      touchers_[allocation].push_back(task);
    }
  }
  for (int i = 0; i < static_cast<int>(problem.releases.size()); ++i) {
    left_.push_back(static_cast<int>(problem.releases[i].tasks.size()));
    for (const int task : problem.releases[i].tasks) {
      releases_of_[task].push_back(i);
    }
  }
}

int64_t TaskReplay::ExcessOf(int task,
                             absl::Span<const int64_t> allowed_bytes) const {
  int64_t excess = kLeast;
  const std::vector<BytesAt>& makes = makes_[task];
  const std::vector<BytesAt>& packs = problem_->tasks[task].packs;
  for (size_t m = 0, p = 0; m < makes.size() || p < packs.size();) {
    const bool has_make = p == packs.size() ||
                          (m < makes.size() && makes[m].rank <= packs[p].rank);
    const int rank = has_make ? makes[m].rank : packs[p].rank;
    int64_t bytes = resident_[rank];
    if (has_make) bytes += makes[m++].bytes;
    if (p < packs.size() && packs[p].rank == rank) bytes += packs[p++].bytes;
    excess = std::max(excess, bytes - allowed_bytes[rank]);
  }
  return excess;
}

std::vector<int> TaskReplay::EndsOf(int task) const {
  std::vector<int> ends;
  for (const int release : releases_of_[task]) {
    if (left_[release] == 1) ends.push_back(release);
  }
  return ends;
}

std::vector<int> TaskReplay::Do(int task) {
  for (const BytesAt& it : makes_[task]) resident_[it.rank] += it.bytes;
  for (const int it : problem_->tasks[task].touches) {
    if (!made_[it]) Make(it);
  }
  done_[task] = true;
  std::vector<int> ended = EndsOf(task);
  for (const int release : releases_of_[task]) --left_[release];
  for (const int release : ended) {
    const BytesAt& memory = problem_->releases[release].memory;
    resident_[memory.rank] -= memory.bytes;
  }
  return ended;
}

// The tasks that touch it don't have to make it any more.
void TaskReplay::Make(int allocation) {
  made_[allocation] = true;
  const BytesAt& memory = problem_->allocations[allocation];
  for (const int task : touchers_[allocation]) {
    AddTo(makes_[task], {memory.rank, -memory.bytes});
  }
}

std::vector<int64_t> PeaksOf(const OrderProblem& problem,
                             absl::Span<const int> order) {
  TaskReplay replay(problem);
  std::vector<int64_t> peaks = problem.resident;
  for (const int task : order) {
    std::vector<BytesAt> during = problem.tasks[task].packs;
    for (const BytesAt& it : replay.MakesOf(task)) AddTo(during, it);
    for (const BytesAt& it : during) {
      peaks[it.rank] =
          std::max(peaks[it.rank], replay.resident()[it.rank] + it.bytes);
    }
    replay.Do(task);
  }
  return peaks;
}

}  // namespace dynatrain::transition
