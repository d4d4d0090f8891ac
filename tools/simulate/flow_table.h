// FlowTable: bytes from rank to rank, added up pair by pair.
#ifndef TOOLS_SIMULATE_FLOW_TABLE_H_
#define TOOLS_SIMULATE_FLOW_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transition/schedule/traffic.h"

namespace dynatrain::simulate {

class FlowTable {
 public:
  explicit FlowTable(int num_ranks)
      : num_ranks_(num_ranks),
        bytes_(static_cast<size_t>(num_ranks) * num_ranks) {}

  // What a rank sends to itself is no flow.
  // REQUIRES: both in [0, num_ranks).
  void Add(int sender, int receiver, int64_t bytes) {
    if (sender == receiver) return;
    bytes_[static_cast<size_t>(sender) * num_ranks_ + receiver] += bytes;
  }

  // Those that are not empty, ascending.
  std::vector<transition::Flow> Flows() const {
    std::vector<transition::Flow> flows;
    for (int sender = 0; sender < num_ranks_; ++sender) {
      for (int receiver = 0; receiver < num_ranks_; ++receiver) {
        if (const int64_t bytes = at(sender, receiver); bytes > 0) {
          flows.push_back({sender, receiver, bytes});
        }
      }
    }
    return flows;
  }

  // Of the busiest rank.
  int64_t MaxSent() const {
    int64_t most = 0;
    for (int sender = 0; sender < num_ranks_; ++sender) {
      int64_t sum = 0;
      for (int receiver = 0; receiver < num_ranks_; ++receiver) {
        sum += at(sender, receiver);
      }
      most = std::max(most, sum);
    }
    return most;
  }
  int64_t MaxReceived() const {
    int64_t most = 0;
    for (int receiver = 0; receiver < num_ranks_; ++receiver) {
      int64_t sum = 0;
      for (int sender = 0; sender < num_ranks_; ++sender) {
        sum += at(sender, receiver);
      }
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  int64_t at(int sender, int receiver) const {
    return bytes_[static_cast<size_t>(sender) * num_ranks_ + receiver];
  }

  int num_ranks_;
  std::vector<int64_t> bytes_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_FLOW_TABLE_H_
