#include "transition/plan/min_max.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace dynatrain::transition {
namespace {

// After so many sets that are relieved one after the other, the rest is served
// as the flow has it: still within the busiest load.
constexpr int kMaxRounds = 32;

// The least level at which the holders have room for `bytes`.
int64_t LevelFor(std::vector<int64_t> loads, int64_t bytes) {
  std::sort(loads.begin(), loads.end());
  int64_t sum = bytes;
  for (size_t n = 1; n <= loads.size(); ++n) {
    sum += loads[n - 1];
    const auto count = static_cast<int64_t>(n);
    const int64_t level = (sum + count - 1) / count;
    if (n == loads.size() || level <= loads[n]) return level;
  }
  return 0;
}

// Dinic's algorithm on demands -> holders, both ends implied.
class Flow {
 public:
  Flow(absl::Span<const SharedDemand> demands, const std::vector<bool>& active,
       const std::vector<int64_t>& loads, int64_t level)
      : demands_(demands),
        unserved_(demands.size()),
        room_(loads.size()),
        shares_(demands.size()),
        takers_(loads.size()),
        demand_depth_(demands.size()),
        holder_depth_(loads.size()),
        next_(demands.size()),
        next_taker_(loads.size()) {
    for (size_t h = 0; h < loads.size(); ++h) {
      room_[h] = std::max<int64_t>(0, level - loads[h]);
    }
    for (size_t d = 0; d < demands.size(); ++d) {
      if (!active[d]) continue;
      unserved_[d] = demands[d].bytes;
      shares_[d].resize(demands[d].holders.size());
      for (size_t i = 0; i < shares_[d].size(); ++i) {
        takers_[demands[d].holders[i]].push_back(
            {static_cast<int>(d), static_cast<int>(i)});
      }
    }
  }

  // Serves as much as can be. Returns whether that is all.
  bool Run() {
    while (FindDepths()) {
      std::fill(next_.begin(), next_.end(), 0);
      std::fill(next_taker_.begin(), next_taker_.end(), 0);
      for (size_t d = 0; d < demands_.size(); ++d) {
        while (unserved_[d] > 0) {
          const int64_t pushed = Push(static_cast<int>(d), unserved_[d]);
          if (pushed == 0) break;
          unserved_[d] -= pushed;
        }
      }
    }
    return std::all_of(unserved_.begin(), unserved_.end(),
                       [](int64_t bytes) { return bytes == 0; });
  }

  std::vector<std::vector<int64_t>>& shares() { return shares_; }
  // After Run: the demands of the cut.
  bool IsShort(int demand) const { return demand_depth_[demand] >= 0; }

 private:
  struct Taker {
    int demand;
    int index;  // of the holder in the demand's list
  };

  // Breadth first from what is unserved. Returns whether there is room.
  bool FindDepths() {
    std::fill(demand_depth_.begin(), demand_depth_.end(), -1);
    std::fill(holder_depth_.begin(), holder_depth_.end(), -1);
    std::queue<int> open;
    for (size_t d = 0; d < demands_.size(); ++d) {
      if (unserved_[d] == 0) continue;
      demand_depth_[d] = 0;
      open.push(static_cast<int>(d));
    }
    bool found = false;
    for (; !open.empty(); open.pop()) {
      const int d = open.front();
      for (const int h : demands_[d].holders) {
        if (holder_depth_[h] >= 0) continue;
        holder_depth_[h] = demand_depth_[d] + 1;
        if (room_[h] > 0) found = true;
        for (const Taker& taker : takers_[h]) {
          if (demand_depth_[taker.demand] >= 0 ||
              shares_[taker.demand][taker.index] == 0) {
            continue;
          }
          demand_depth_[taker.demand] = holder_depth_[h] + 1;
          open.push(taker.demand);
        }
      }
    }
    return found;
  }

  // Up to `bytes` of a demand to a holder with room, or one that hands as much
  // of another demand on.
  int64_t Push(int d, int64_t bytes) {
    for (; next_[d] < shares_[d].size(); ++next_[d]) {
      const int h = demands_[d].holders[next_[d]];
      if (holder_depth_[h] != demand_depth_[d] + 1) continue;
      const int64_t pushed = Take(h, bytes);
      if (pushed == 0) continue;
      shares_[d][next_[d]] += pushed;
      return pushed;
    }
    return 0;
  }

  int64_t Take(int h, int64_t bytes) {
    if (room_[h] > 0) {
      const int64_t taken = std::min(room_[h], bytes);
      room_[h] -= taken;
      return taken;
    }
    for (; next_taker_[h] < takers_[h].size(); ++next_taker_[h]) {
      const auto [demand, index] = takers_[h][next_taker_[h]];
      const int64_t share = shares_[demand][index];
      if (share == 0 || demand_depth_[demand] != holder_depth_[h] + 1) continue;
      const int64_t pushed = Push(demand, std::min(bytes, share));
      if (pushed == 0) continue;
      shares_[demand][index] -= pushed;
      return pushed;
    }
    return 0;
  }

  const absl::Span<const SharedDemand> demands_;
  std::vector<int64_t> unserved_;             // by demand
  std::vector<int64_t> room_;                 // by holder
  std::vector<std::vector<int64_t>> shares_;  // by demand, index of holder
  std::vector<std::vector<Taker>> takers_;    // by holder
  std::vector<int> demand_depth_, holder_depth_;
  std::vector<size_t> next_, next_taker_;
};

class Solver {
 public:
  Solver(absl::Span<const SharedDemand> demands, std::vector<int64_t> loads)
      : demands_(demands),
        loads_(std::move(loads)),
        active_(demands.size(), true),
        left_(demands.size()) {
    result_.shares.resize(demands.size());
  }

  MinMax Solve() && {
    for (int round = 0; left_ > 0; ++round) ServeTightest(round == kMaxRounds);
    return std::move(result_);
  }

 private:
  // The level that the demands need by themselves.
  int64_t LevelOf(const std::vector<bool>& chosen) const {
    std::vector<bool> used(loads_.size());
    std::vector<int64_t> loads;
    int64_t bytes = 0;
    for (size_t d = 0; d < demands_.size(); ++d) {
      if (!chosen[d]) continue;
      bytes += demands_[d].bytes;
      for (const int h : demands_[d].holders) {
        if (!used[h]) loads.push_back(loads_[h]);
        used[h] = true;
      }
    }
    return LevelFor(std::move(loads), bytes);
  }

  // Serves those demands that need the highest level; all that are left if
  // `all`.
  void ServeTightest(bool all) {
    std::vector<bool> tight = active_;
    for (int64_t level = LevelOf(tight);;) {
      Flow flow(demands_, active_, loads_, level);
      if (flow.Run()) {
        result_.busiest_bytes = std::max(result_.busiest_bytes, level);
        for (size_t d = 0; d < demands_.size(); ++d) {
          if (active_[d] && (all || tight[d])) Fix(d, flow);
        }
        return;
      }
      for (size_t d = 0; d < demands_.size(); ++d) {
        tight[d] = active_[d] && flow.IsShort(static_cast<int>(d));
      }
      // Higher: these demands did not fit at the level.
      level = LevelOf(tight);
    }
  }

  void Fix(size_t d, Flow& flow) {
    result_.shares[d] = std::move(flow.shares()[d]);
    for (size_t i = 0; i < demands_[d].holders.size(); ++i) {
      loads_[demands_[d].holders[i]] += result_.shares[d][i];
    }
    active_[d] = false;
    --left_;
  }

  const absl::Span<const SharedDemand> demands_;
  std::vector<int64_t> loads_;
  std::vector<bool> active_;
  size_t left_;
  MinMax result_;
};

}  // namespace

MinMax SolveMinMax(absl::Span<const SharedDemand> demands,
                   std::vector<int64_t> loads) {
  return Solver(demands, std::move(loads)).Solve();
}

}  // namespace dynatrain::transition
