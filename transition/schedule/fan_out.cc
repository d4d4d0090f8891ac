#include "transition/schedule/fan_out.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/schedule/check_range.h"

namespace dynatrain::transition {
namespace {

absl::Status CheckInput(const ClusterModel& cluster,
                        absl::Span<const int> old_ranks,
                        absl::Span<const int> new_ranks, int64_t bytes) {
  if (old_ranks.empty() || new_ranks.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("fan-out from ", old_ranks.size(), " old ranks to ",
                     new_ranks.size(), " new ones; there must be one of each"));
  }
  RETURN_IF_ERROR(CheckRange("fan-out", "bytes", bytes, 1, kMaxTrafficBytes));
  std::set<int> seen;
  for (const absl::Span<const int> ranks : {old_ranks, new_ranks}) {
    for (const int rank : ranks) {
      if (rank < 0 || rank >= cluster.num_ranks()) {
        return absl::InvalidArgumentError(
            absl::StrCat("fan-out: rank ", rank, "; ranks are 0 to ",
                         cluster.num_ranks() - 1));
      }
      if (!seen.insert(rank).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("fan-out: rank ", rank, " is there twice"));
      }
    }
  }
  return absl::OkStatus();
}

// Cuts `items` into `count` runs that differ by one at most.
// REQUIRES: 1 <= count <= items.size().
template <typename T>
std::vector<std::vector<T>> Cut(const std::vector<T>& items, size_t count) {
  std::vector<std::vector<T>> runs(count);
  for (size_t i = 0; i < items.size(); ++i) {
    runs[i * count / items.size()].push_back(items[i]);
  }
  return runs;
}

// Runs of whole nodes if there are as many nodes as runs.
std::vector<std::vector<int>> Runs(const ClusterModel& cluster,
                                   std::vector<int> new_ranks, size_t count) {
  std::sort(new_ranks.begin(), new_ranks.end());
  std::map<int, std::vector<int>> by_node;
  for (const int rank : new_ranks) {
    by_node[cluster.NodeOf(rank)].push_back(rank);
  }
  if (by_node.size() < count) return Cut(new_ranks, count);
  std::vector<std::vector<int>> nodes;
  for (auto& [node, ranks] : by_node) nodes.push_back(std::move(ranks));
  std::vector<std::vector<int>> runs;
  for (const auto& group : Cut(nodes, count)) {
    runs.emplace_back();
    for (const std::vector<int>& ranks : group) {
      runs.back().insert(runs.back().end(), ranks.begin(), ranks.end());
    }
  }
  return runs;
}

// Moves the ranks of `node` to the front.
void BeginOn(const ClusterModel& cluster, int node, std::vector<int>& run) {
  std::stable_partition(run.begin(), run.end(),
                        [&](int rank) { return cluster.NodeOf(rank) == node; });
}

// The old rank for a run: the first unused one that shares a node with it, else
// the first unused one.
int TakeSource(const ClusterModel& cluster, const std::vector<int>& run,
               std::set<int>& unused) {
  int source = *unused.begin();
  for (const int rank : unused) {
    const bool near = std::any_of(run.begin(), run.end(), [&](int it) {
      return cluster.NodeOf(it) == cluster.NodeOf(rank);
    });
    if (near) {
      source = rank;
      break;
    }
  }
  unused.erase(source);
  return source;
}

// When the last slot is at the end of a chain, if a hop takes
// `hop_time(hop, bytes)` for a slot and begins when the slot is there and the
// slot before it has gone; it is at the next rank `latency(hop)` later.
int64_t ChainEnd(const FanOut& fan_out, size_t num_hops,
                 absl::FunctionRef<int64_t(size_t, int64_t)> hop_time,
                 absl::FunctionRef<int64_t(size_t)> latency) {
  std::vector<int64_t> free_at(num_hops);
  int64_t end = 0;
  for (int64_t done = 0; done < fan_out.bytes; done += fan_out.slot_bytes) {
    const int64_t bytes = std::min(fan_out.slot_bytes, fan_out.bytes - done);
    int64_t there = 0;
    for (size_t hop = 0; hop < num_hops; ++hop) {
      free_at[hop] = std::max(free_at[hop], there) + hop_time(hop, bytes);
      there = free_at[hop] + latency(hop);
    }
    end = std::max(end, there);
  }
  return end;
}

}  // namespace

absl::StatusOr<FanOut> PlanFanOut(const ClusterModel& cluster,
                                  absl::Span<const int> old_ranks,
                                  absl::Span<const int> new_ranks,
                                  int64_t bytes,
                                  const CollectiveOptions& options) {
  RETURN_IF_ERROR(CheckInput(cluster, old_ranks, new_ranks, bytes));
  RETURN_IF_ERROR(CheckCollectiveOptions(options));
  FanOut fan_out = {.bytes = bytes};
  std::set<int> unused(old_ranks.begin(), old_ranks.end());
  size_t longest = 0;
  for (std::vector<int>& run :
       Runs(cluster, {new_ranks.begin(), new_ranks.end()},
            std::min(old_ranks.size(), new_ranks.size()))) {
    const int source = TakeSource(cluster, run, unused);
    BeginOn(cluster, cluster.NodeOf(source), run);
    longest = std::max(longest, run.size());
    run.insert(run.begin(), source);
    fan_out.chains.push_back(std::move(run));
  }
  fan_out.slot_bytes = PipelineSlot(
      bytes, cluster.PortBytesPerSecond(Lane::kBetween),
      cluster.figures().message_ns, static_cast<int>(longest), options);
  return fan_out;
}

int64_t FanOutMakespan(const FanOut& fan_out) {
  int64_t end = 0;
  for (const std::vector<int>& chain : fan_out.chains) {
    end = std::max(end, ChainEnd(
                            fan_out, chain.size() - 1,
                            [](size_t, int64_t bytes) { return bytes; },
                            [](size_t) { return int64_t{0}; }));
  }
  return end;
}

int64_t FanOutNs(const FanOut& fan_out, const ClusterModel& cluster) {
  int64_t end = 0;
  for (const std::vector<int>& chain : fan_out.chains) {
    const auto lane = [&](size_t hop) {
      return cluster.LaneOf(chain[hop], chain[hop + 1]);
    };
    end = std::max(
        end, ChainEnd(
                 fan_out, chain.size() - 1,
                 [&](size_t hop, int64_t bytes) {
                   return TransferNs(bytes,
                                     cluster.PortBytesPerSecond(lane(hop))) +
                          cluster.figures().message_ns;
                 },
                 [&](size_t hop) { return cluster.LatencyNs(lane(hop)); }));
  }
  return end;
}

}  // namespace dynatrain::transition
