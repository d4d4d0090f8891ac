#include "transition/stage/order_problem_testutil.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace dynatrain::transition {
namespace {

int Below(int end, std::mt19937_64& random) {
  return static_cast<int>(random() % end);
}

int64_t RandomBytes(std::mt19937_64& random) {
  return 1 + static_cast<int64_t>(random() % 20);
}

// What ranks have when the tasks of `made` have room and those of `done` are
// done.
std::vector<int64_t> Resident(const OrderProblem& problem, uint32_t made,
                              uint32_t done) {
  const auto has = [](uint32_t set, int task) {
    return ((set >> task) & 1) != 0;
  };
  std::vector<int64_t> bytes = problem.resident;
  std::set<int> touched;
  for (int task = 0; task < problem.num_tasks(); ++task) {
    if (!has(made, task)) continue;
    for (const BytesAt& it : problem.tasks[task].makes) {
      bytes[it.rank] += it.bytes;
    }
    touched.insert(problem.tasks[task].touches.begin(),
                   problem.tasks[task].touches.end());
  }
  for (const int it : touched) {
    bytes[problem.allocations[it].rank] += problem.allocations[it].bytes;
  }
  for (const TaskRelease& it : problem.releases) {
    if (std::all_of(it.tasks.begin(), it.tasks.end(),
                    [&](int task) { return has(done, task); })) {
      bytes[it.memory.rank] -= it.memory.bytes;
    }
  }
  return bytes;
}

}  // namespace

OrderProblem RandomProblem(int num_tasks, std::mt19937_64& random) {
  const int ranks = 2 + Below(4, random);
  OrderProblem problem;
  problem.resident.resize(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    problem.allocations.push_back({rank, RandomBytes(random)});
  }
  for (int task = 0; task < num_tasks; ++task) {
    OrderTask it;
    for (int rank = 0; rank < ranks; ++rank) {
      if (random() % 3 == 0) it.makes.push_back({rank, RandomBytes(random)});
      if (random() % 5 == 0) it.packs.push_back({rank, RandomBytes(random)});
    }
    if (random() % 2 == 0) it.touches.push_back(Below(ranks, random));
    problem.tasks.push_back(it);
    TaskRelease release = {{Below(ranks, random), RandomBytes(random)}, {task}};
    if (task > 0 && random() % 4 == 0) {
      release.tasks.insert(release.tasks.begin(), Below(task, random));
    }
    problem.resident[release.memory.rank] += release.memory.bytes;
    problem.releases.push_back(release);
  }
  return problem;
}

OrderProblem RandomExchange(int num_tasks, std::mt19937_64& random) {
  const int ranks = 1 + Below(4, random);
  OrderProblem problem;
  problem.resident.resize(ranks);
  for (int i = 0; i < num_tasks; ++i) {
    problem.allocations.push_back({Below(ranks, random), RandomBytes(random)});
  }
  for (int task = 0; task < num_tasks; ++task) {
    std::set<int> touches;
    for (int i = 1 + Below(3, random); i > 0; --i) {
      touches.insert(Below(num_tasks, random));
    }
    problem.tasks.push_back({.touches = {touches.begin(), touches.end()}});
    const BytesAt read = {Below(ranks, random), RandomBytes(random)};
    problem.resident[read.rank] += read.bytes;
    problem.releases.push_back({read, {task}});
  }
  return problem;
}

std::vector<int64_t> RandomAllowed(const OrderProblem& problem,
                                   std::mt19937_64& random) {
  std::vector<int64_t> allowed;
  for (int rank = 0; rank < problem.num_ranks(); ++rank) {
    allowed.push_back(Below(50, random));
  }
  return allowed;
}

int64_t ExcessOf(const OrderProblem& problem, const std::vector<int>& order,
                 const std::vector<int64_t>& allowed_bytes) {
  return LargestExcess(PeaksOf(problem, order), allowed_bytes);
}

int64_t LeastExcess(const OrderProblem& problem,
                    const std::vector<int64_t>& allowed_bytes) {
  const uint32_t num_sets = uint32_t{1} << problem.num_tasks();
  std::vector<int64_t> least(num_sets, std::numeric_limits<int64_t>::max());
  least[0] = LargestExcess(problem.resident, allowed_bytes);
  for (uint32_t set = 0; set < num_sets; ++set) {
    for (int task = 0; task < problem.num_tasks(); ++task) {
      const uint32_t next = set | (uint32_t{1} << task);
      if (next == set) continue;
      std::vector<int64_t> bytes = Resident(problem, next, set);
      for (const BytesAt& it : problem.tasks[task].packs) {
        bytes[it.rank] += it.bytes;
      }
      least[next] =
          std::min(least[next],
                   std::max(least[set], LargestExcess(bytes, allowed_bytes)));
    }
  }
  return least.back();
}

}  // namespace dynatrain::transition
