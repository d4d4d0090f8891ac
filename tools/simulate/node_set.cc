#include "tools/simulate/node_set.h"

#include <algorithm>

namespace dynatrain::simulate {

std::vector<int> NodeSet::Staying(const std::vector<int>& running,
                                  int most) const {
  std::vector<int> nodes;
  const auto add = [&](int node) {
    const auto it = goes_ns_.find(node);
    if (it == goes_ns_.end() || it->second != kNever) return;
    if (static_cast<int>(nodes.size()) < most) nodes.push_back(node);
  };
  for (int node : running) add(node);
  for (const auto& [node, goes_ns] : goes_ns_) {
    if (std::count(running.begin(), running.end(), node) == 0) add(node);
  }
  return nodes;
}

int NodeSet::NumStaying() const {
  int count = 0;
  for (const auto& [node, goes_ns] : goes_ns_) count += goes_ns == kNever;
  return count;
}

int NodeSet::NumThere(int64_t now_ns) const {
  int count = 0;
  for (const auto& [node, goes_ns] : goes_ns_) count += goes_ns > now_ns;
  return count;
}

int64_t NodeSet::FirstGoes(const std::vector<int>& nodes) const {
  int64_t first = kNever;
  for (int node : nodes) first = std::min(first, goes_ns_.at(node));
  return first;
}

int64_t NodeSet::NextGoes(int64_t now_ns) const {
  int64_t next = kNever;
  for (const auto& [node, goes_ns] : goes_ns_) {
    if (goes_ns > now_ns) next = std::min(next, goes_ns);
  }
  return next;
}

}  // namespace dynatrain::simulate
