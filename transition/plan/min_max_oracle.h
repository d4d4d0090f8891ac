// The least load of the busiest holder by binary search over maximum flows, for
// tests: nothing of min_max.cc is used.
#ifndef TRANSITION_PLAN_MIN_MAX_ORACLE_H_
#define TRANSITION_PLAN_MIN_MAX_ORACLE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"

namespace dynatrain::transition {

// Dinic's algorithm on any network, in its textbook form.
class MaxFlow {
 public:
  explicit MaxFlow(int num_nodes) : edges_of_(num_nodes) {}

  void AddEdge(int from, int to, int64_t capacity) {
    edges_of_[from].push_back(static_cast<int>(edges_.size()));
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(static_cast<int>(edges_.size()));
    edges_.push_back({from, 0});
  }

  int64_t Run(int source, int sink) {
    int64_t flow = 0;
    while (FindLevels(source, sink)) {
      next_.assign(edges_of_.size(), 0);
      while (const int64_t pushed =
                 Push(source, sink, std::numeric_limits<int64_t>::max())) {
        flow += pushed;
      }
    }
    return flow;
  }

 private:
  struct Edge {
    int to;
    int64_t left;
  };

  bool FindLevels(int source, int sink) {
    level_.assign(edges_of_.size(), -1);
    level_[source] = 0;
    std::vector<int> open = {source};
    for (size_t i = 0; i < open.size(); ++i) {
      for (const int e : edges_of_[open[i]]) {
        if (edges_[e].left == 0 || level_[edges_[e].to] >= 0) continue;
        level_[edges_[e].to] = level_[open[i]] + 1;
        open.push_back(edges_[e].to);
      }
    }
    return level_[sink] >= 0;
  }

  int64_t Push(int node, int sink, int64_t most) {
    if (node == sink) return most;
    for (size_t& i = next_[node]; i < edges_of_[node].size(); ++i) {
      const int e = edges_of_[node][i];
      if (edges_[e].left == 0 || level_[edges_[e].to] != level_[node] + 1) {
        continue;
      }
      const int64_t pushed =
          Push(edges_[e].to, sink, std::min(most, edges_[e].left));
      if (pushed == 0) continue;
      edges_[e].left -= pushed;
      edges_[e ^ 1].left += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<Edge> edges_;  // each one's reverse is its neighbour
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

struct OracleDemand {
  int64_t bytes = 0;
  std::vector<int> holders;
};

// Demands may be cut anywhere.
inline int64_t BusiestHolder(absl::Span<const OracleDemand> demands,
                             int num_holders) {
  int64_t total = 0;
  for (const OracleDemand& demand : demands) total += demand.bytes;
  const auto fits = [&](int64_t load) {
    const int num_demands = static_cast<int>(demands.size());
    const int source = num_demands + num_holders, sink = source + 1;
    MaxFlow flow(sink + 1);
    for (int d = 0; d < num_demands; ++d) {
      flow.AddEdge(source, d, demands[d].bytes);
      for (const int h : demands[d].holders) {
        flow.AddEdge(d, num_demands + h, demands[d].bytes);
      }
    }
    for (int h = 0; h < num_holders; ++h) {
      flow.AddEdge(num_demands + h, sink, load);
    }
    return flow.Run(source, sink) == total;
  };
  int64_t low = 0, high = total;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_MIN_MAX_ORACLE_H_
