// FlowTable: bytes from rank to rank, added up pair by pair.
#ifndef TOOLS_SIMULATE_FLOW_TABLE_H_
#define TOOLS_SIMULATE_FLOW_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "transition/schedule/traffic.h"

namespace dynatrain::simulate {

class FlowTable {
 public:
  // What a rank sends to itself is no flow. Bytes below 0 take away from what
  // is added before or after.
  void Add(int sender, int receiver, int64_t bytes) {
    if (sender != receiver) bytes_[{sender, receiver}] += bytes;
  }

  // Those that are not empty, ascending.
  std::vector<transition::Flow> Flows() const {
    std::vector<transition::Flow> flows;
    for (const auto& [pair, bytes] : bytes_) {
      if (bytes > 0) flows.push_back({pair.first, pair.second, bytes});
    }
    return flows;
  }

  // Of the busiest rank.
  int64_t MaxSent() const {
    return MaxSum([](const Pair& pair) { return pair.first; });
  }
  int64_t MaxReceived() const {
    return MaxSum([](const Pair& pair) { return pair.second; });
  }

 private:
  using Pair = std::pair<int, int>;  // sender, receiver

  template <typename RankOf>
  int64_t MaxSum(RankOf rank_of) const {
    std::map<int, int64_t> sums;
    for (const auto& [pair, bytes] : bytes_) sums[rank_of(pair)] += bytes;
    int64_t most = 0;
    for (const auto& [rank, sum] : sums) most = std::max(most, sum);
    return most;
  }

  std::map<Pair, int64_t> bytes_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_FLOW_TABLE_H_
