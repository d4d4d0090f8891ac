#include "transition/stage/order_bound.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace dynatrain::transition {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// What a task does on one rank.
struct Job {
  int64_t makes = 0;  // for it alone
  int64_t packs = 0;
  int64_t shares = 0;    // of allocations that others touch too
  int64_t releases = 0;  // that wait for it, whoever else they wait for
  // If what several share counted for one of them: of allocations, the task
  // with most releases; of releases, the task that makes most.
  int64_t makes_if_alone = 0;
  int64_t frees_if_alone = 0;

  int64_t makes_at_most() const { return makes + shares; }
};

// The least peak of jobs that nothing binds: those that leave less than there
// was, least first; then the others, backwards the same.
int64_t PeakOfFreeJobs(int64_t resident, std::vector<Job> jobs) {
  const auto before = [](const Job& a, const Job& b) {
    const bool a_shrinks = a.makes_if_alone <= a.frees_if_alone;
    const bool b_shrinks = b.makes_if_alone <= b.frees_if_alone;
    if (a_shrinks != b_shrinks) return a_shrinks;
    return a_shrinks ? a.makes_if_alone + a.packs < b.makes_if_alone + b.packs
                     : a.frees_if_alone + a.packs > b.frees_if_alone + b.packs;
  };
  std::sort(jobs.begin(), jobs.end(), before);
  int64_t peak = resident;
  for (const Job& it : jobs) {
    peak = std::max(peak, resident + it.makes_if_alone + it.packs);
    resident += it.makes_if_alone - it.frees_if_alone;
  }
  return peak;
}

class Bounds {
 public:
  Bounds(const OrderProblem& problem, absl::Span<const int64_t> allowed_bytes)
      : problem_(problem),
        allowed_(allowed_bytes),
        jobs_(problem.num_tasks()),
        end_(problem.resident),
        first_release_(problem.num_ranks(), kMost) {
    AddTasks();
    AddAllocations();
    AddReleases();
    ShareOut();
  }

  int64_t Find() const {
    return std::max({LargestExcess(problem_.resident, allowed_),
                     LargestExcess(end_, allowed_), OfFirstTask(), OfLastTask(),
                     OfRanks()});
  }

 private:
  using RankJobs = std::vector<std::pair<int, Job>>;  // by rank, few

  Job& JobOf(int task, int rank) {
    RankJobs& jobs = jobs_[task];
    const auto it =
        std::find_if(jobs.begin(), jobs.end(),
                     [&](const auto& job) { return job.first == rank; });
    if (it != jobs.end()) return it->second;
    return jobs.emplace_back(rank, Job()).second;
  }

  void AddTasks() {
    touchers_.resize(problem_.allocations.size());
    for (int task = 0; task < problem_.num_tasks(); ++task) {
      for (const BytesAt& it : problem_.tasks[task].makes) {
        JobOf(task, it.rank).makes += it.bytes;
        end_[it.rank] += it.bytes;
      }
      for (const BytesAt& it : problem_.tasks[task].packs) {
        JobOf(task, it.rank).packs += it.bytes;
      }
      for (const int it : problem_.tasks[task].touches) {
        touchers_[it].push_back(task);
      }
    }
  }

  void AddAllocations() {
    for (size_t i = 0; i < touchers_.size(); ++i) {
      const BytesAt& memory = problem_.allocations[i];
      if (touchers_[i].empty()) continue;  // made behind all tasks
      end_[memory.rank] += memory.bytes;
      for (const int task : touchers_[i]) {
        Job& job = JobOf(task, memory.rank);
        (touchers_[i].size() == 1 ? job.makes : job.shares) += memory.bytes;
      }
    }
  }

  void AddReleases() {
    for (const TaskRelease& it : problem_.releases) {
      end_[it.memory.rank] -= it.memory.bytes;
      int64_t made = 0;
      std::set<int> touched;
      for (const int task : it.tasks) {
        JobOf(task, it.memory.rank).releases += it.memory.bytes;
        for (const BytesAt& makes : problem_.tasks[task].makes) {
          if (makes.rank == it.memory.rank) made += makes.bytes;
        }
        touched.insert(problem_.tasks[task].touches.begin(),
                       problem_.tasks[task].touches.end());
      }
      for (const int i : touched) {
        const BytesAt& allocation = problem_.allocations[i];
        if (allocation.rank == it.memory.rank) made += allocation.bytes;
      }
      int64_t& first = first_release_[it.memory.rank];
      first = std::min(first, made);
    }
  }

  // To one task each what several share.
  void ShareOut() {
    for (RankJobs& jobs : jobs_) {
      for (auto& [rank, job] : jobs) job.makes_if_alone = job.makes;
    }
    for (size_t i = 0; i < touchers_.size(); ++i) {
      if (touchers_[i].size() < 2) continue;
      const BytesAt& memory = problem_.allocations[i];
      MostOf(touchers_[i], memory.rank, &Job::releases).makes_if_alone +=
          memory.bytes;
    }
    for (const TaskRelease& it : problem_.releases) {
      MostOf(it.tasks, it.memory.rank, &Job::makes_if_alone).frees_if_alone +=
          it.memory.bytes;
    }
  }

  Job& MostOf(const std::vector<int>& tasks, int rank, int64_t Job::*what) {
    Job* most = nullptr;
    for (const int task : tasks) {
      Job& job = JobOf(task, rank);
      if (most == nullptr || job.*what > most->*what) most = &job;
    }
    return *most;
  }

  int64_t OfFirstTask() const {
    int64_t least = kMost;
    const TaskReplay replay(problem_);
    for (int task = 0; task < problem_.num_tasks(); ++task) {
      least = std::min(least, replay.ExcessOf(task, allowed_));
    }
    return least == kMost ? kLeast : least;
  }

  // While it runs all is made, and what waits for it is not given back.
  int64_t WhileLast(int rank, const Job& job) const {
    return end_[rank] + job.releases + job.packs;
  }

  int64_t OfLastTask() const {
    int64_t least = kMost;
    for (const RankJobs& jobs : jobs_) {
      int64_t excess = kLeast;
      for (const auto& [rank, job] : jobs) {
        excess = std::max(excess, WhileLast(rank, job) - allowed_[rank]);
      }
      least = std::min(least, excess);
    }
    return least == kMost ? kLeast : least;
  }

  int64_t OfRanks() const {
    std::vector<std::vector<Job>> by_rank(problem_.num_ranks());
    std::vector<int64_t> last_make(problem_.num_ranks(), kMost);
    for (const RankJobs& jobs : jobs_) {
      for (const auto& [rank, job] : jobs) {
        by_rank[rank].push_back(job);
        if (job.makes_at_most() == 0) continue;
        last_make[rank] = std::min(last_make[rank], WhileLast(rank, job));
      }
    }
    int64_t excess = kLeast;
    for (int rank = 0; rank < problem_.num_ranks(); ++rank) {
      int64_t peak =
          PeakOfFreeJobs(problem_.resident[rank], std::move(by_rank[rank]));
      if (last_make[rank] != kMost) peak = std::max(peak, last_make[rank]);
      if (first_release_[rank] != kMost) {
        peak = std::max(peak, problem_.resident[rank] + first_release_[rank]);
      }
      excess = std::max(excess, peak - allowed_[rank]);
    }
    return excess;
  }

  const OrderProblem& problem_;
  const absl::Span<const int64_t> allowed_;
  std::vector<RankJobs> jobs_;              // by task
  std::vector<std::vector<int>> touchers_;  // tasks, by allocation
  std::vector<int64_t> end_;                // by rank, after all tasks
  std::vector<int64_t> first_release_;      // by rank, what it must make
};

}  // namespace

int64_t OrderBound(const OrderProblem& problem,
                   absl::Span<const int64_t> allowed_bytes) {
  return Bounds(problem, allowed_bytes).Find();
}

}  // namespace dynatrain::transition
