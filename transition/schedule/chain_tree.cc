#include "transition/schedule/chain_tree.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace dynatrain::transition {
namespace {

template <typename T>
void Turn(std::vector<T>& items, int turn, int turns) {
  const size_t by = static_cast<size_t>(turn) * items.size() / turns;
  std::rotate(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(by),
              items.end());
}

// From `hop.to` along `ranks`, which don't have it.
void AddChain(const Hop& hop, absl::Span<const int> ranks,
              std::vector<Hop>& hops) {
  Hop last = hop;
  for (const int rank : ranks) {
    last = {last.to, rank, last.depth + 1, last.from};
    hops.push_back(last);
  }
}

}  // namespace

std::vector<Hop> ChainTree(const ClusterModel& cluster, int root,
                           absl::Span<const int> targets, int turn, int turns) {
  std::map<int, std::vector<int>> by_node;
  for (const int rank : targets) by_node[cluster.NodeOf(rank)].push_back(rank);
  std::vector<Hop> hops;
  const Hop start = {.from = -1, .to = root, .depth = -1};
  const auto own = by_node.find(cluster.NodeOf(root));
  if (own != by_node.end()) {
    Turn(own->second, turn, turns);
    AddChain(start, own->second, hops);
    by_node.erase(own);
  }
  std::vector<std::vector<int>> nodes;
  for (auto& [node, ranks] : by_node) nodes.push_back(std::move(ranks));
  Turn(nodes, turn, turns);
  Hop entry = start;
  for (std::vector<int>& ranks : nodes) {
    // Few chains are far apart in a node, many use each rank in turn.
    Turn(ranks, turn, turns);
    entry = {entry.to, ranks[0], entry.depth + 1, entry.from};
    hops.push_back(entry);
    AddChain(entry, absl::MakeConstSpan(ranks).subspan(1), hops);
  }
  std::stable_sort(hops.begin(), hops.end(), [](const Hop& a, const Hop& b) {
    return a.depth < b.depth;
  });
  return hops;
}

}  // namespace dynatrain::transition
