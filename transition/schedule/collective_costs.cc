#include "transition/schedule/collective_costs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "transition/schedule/check_range.h"

namespace dynatrain::transition {
namespace {

std::string Rate(int64_t bytes_per_second) {
  return absl::StrFormat("%.1f GB/s", bytes_per_second / 1e9);
}

// What `messages` messages of `bytes` each cost one port.
int64_t PortNs(const ClusterModel& cluster, Lane lane, int64_t messages,
               int64_t bytes) {
  return TransferNs(messages * bytes, cluster.PortBytesPerSecond(lane)) +
         messages * cluster.figures().message_ns;
}

// All that passes one port must be traffic that the models can count.
absl::Status CheckBytes(int64_t bytes, int64_t messages) {
  return CheckRange("collective", "bytes", bytes, 1,
                    kMaxTrafficBytes / std::max<int64_t>(1, messages));
}

absl::Status CheckRanks(const ClusterModel& cluster, int root,
                        absl::Span<const int> others) {
  std::set<int> seen = {root};
  for (const int rank : others) {
    if (!seen.insert(rank).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("collective: rank ", rank, " is there twice"));
    }
  }
  for (const int rank : seen) {
    if (rank < 0 || rank >= cluster.num_ranks()) {
      return absl::InvalidArgumentError(absl::StrCat("collective: rank ", rank,
                                                     "; ranks are 0 to ",
                                                     cluster.num_ranks() - 1));
    }
  }
  return absl::OkStatus();
}

// Who is where, seen from the root.
struct Spread {
  int inside = 0;          // on the root's node
  int between = 0;         // elsewhere
  int nodes = 0;           // other nodes
  int most_on_a_node = 0;  // of the others, on one of those nodes
};

Spread SpreadOf(const ClusterModel& cluster, int root,
                absl::Span<const int> others) {
  Spread spread;
  std::map<int, int> on_node;
  for (const int rank : others) {
    if (cluster.NodeOf(rank) == cluster.NodeOf(root)) {
      ++spread.inside;
    } else {
      ++spread.between;
      spread.most_on_a_node =
          std::max(spread.most_on_a_node, ++on_node[cluster.NodeOf(rank)]);
    }
  }
  spread.nodes = static_cast<int>(on_node.size());
  return spread;
}

CostTerm Launch(const ClusterModel& cluster, int groups) {
  return {absl::StrCat(groups, " x group"),
          groups * cluster.figures().group_ns};
}

CostTerm Latency(const ClusterModel& cluster, int inside, int between) {
  return {"latency", inside * cluster.figures().inside_latency_ns +
                         between * cluster.figures().nic_latency_ns};
}

// The root's port sends each message by itself; lanes work at once.
Cost PlainFrom(const ClusterModel& cluster, const Spread& spread,
               int64_t bytes) {
  const int64_t inside = PortNs(cluster, Lane::kInside, spread.inside, bytes);
  const int64_t between =
      PortNs(cluster, Lane::kBetween, spread.between, bytes);
  const bool network = between >= inside;
  const Lane lane = network ? Lane::kBetween : Lane::kInside;
  return {"point to point",
          {Launch(cluster, 1),
           {absl::StrCat(network ? spread.between : spread.inside,
                         " messages through the root's port at ",
                         Rate(cluster.PortBytesPerSecond(lane))),
            network ? between : inside},
           Latency(cluster, network ? 0 : 1, network ? 1 : 0)}};
}

// Adds the collective where it is considered, and chooses.
CostComparison Compare(Cost plain, Cost collective, int ranks, int64_t bytes,
                       const CollectiveOptions& options) {
  CostComparison comparison = {.ways = {std::move(plain)}};
  if (ranks < options.min_ranks) {
    comparison.remark = absl::StrCat("no collective: ", ranks,
                                     " ranks; it takes ", options.min_ranks);
  } else if (bytes < options.min_bytes) {
    comparison.remark = absl::StrCat("no collective: ", bytes,
                                     " bytes; it takes ", options.min_bytes);
  } else {
    comparison.ways.push_back(std::move(collective));
    if (comparison.ways[1].ns() < comparison.ways[0].ns()) {
      comparison.chosen = 1;
    }
  }
  return comparison;
}

// A pipelined chain of `hops` hops of a lane: the time of one slot at each hop,
// and that of all bytes at one.
struct Pipeline {
  int64_t slot_bytes = 0;
  int64_t slot_ns = 0;
  int64_t stream_ns = 0;
};

Pipeline PipelineOn(const ClusterModel& cluster, Lane lane, int64_t bytes,
                    int64_t slot_bytes) {
  const int64_t slots = (bytes + slot_bytes - 1) / slot_bytes;
  const int64_t rate = cluster.PortBytesPerSecond(lane);
  return {slot_bytes,
          TransferNs(std::min(bytes, slot_bytes), rate) +
              cluster.figures().message_ns,
          TransferNs(bytes, rate) + slots * cluster.figures().message_ns};
}

Cost Chain(const ClusterModel& cluster, const Spread& spread, int64_t bytes,
           const CollectiveOptions& options) {
  // The longest way: along the nodes, then along the ranks of the last one.
  const int node_hops = spread.nodes;
  const int rank_hops =
      std::max(spread.inside, std::max(0, spread.most_on_a_node - 1));
  const Lane slowest = node_hops > 0 ? Lane::kBetween : Lane::kInside;
  const int64_t slot_bytes = PipelineSlot(
      bytes, cluster.PortBytesPerSecond(slowest), cluster.figures().message_ns,
      std::max(1, node_hops + rank_hops), options);
  const Pipeline between =
      PipelineOn(cluster, Lane::kBetween, bytes, slot_bytes);
  const Pipeline inside = PipelineOn(cluster, Lane::kInside, bytes, slot_bytes);
  const int64_t stream_ns = std::max(node_hops > 0 ? between.stream_ns : 0,
                                     rank_hops > 0 ? inside.stream_ns : 0);
  // The hop that streams counts its first slot already.
  const int64_t fill_ns =
      node_hops * between.slot_ns + rank_hops * inside.slot_ns -
      (node_hops > 0 && between.stream_ns == stream_ns ? between.slot_ns
                                                       : inside.slot_ns);
  return {"broadcast chain",
          {Launch(cluster, 1),
           {absl::StrCat(bytes, " bytes at ",
                         Rate(cluster.PortBytesPerSecond(slowest)), " in ",
                         (bytes + slot_bytes - 1) / slot_bytes, " slots"),
            stream_ns},
           {absl::StrCat("filling ", node_hops, " hops between nodes and ",
                         rank_hops, " inside"),
            fill_ns},
           Latency(cluster, rank_hops, node_hops)}};
}

Cost ByNode(const ClusterModel& cluster, const char* name, const Spread& spread,
            int64_t bytes) {
  // The root's own node is served meanwhile, over its other port.
  const int64_t inside = PortNs(cluster, Lane::kInside, spread.inside, bytes);
  const int64_t between =
      TransferNs(spread.between * bytes,
                 cluster.PortBytesPerSecond(Lane::kBetween)) +
      spread.nodes * cluster.figures().message_ns;
  const int handed = std::max(0, spread.most_on_a_node - 1);
  return {name,
          {Launch(cluster, 2),
           {absl::StrCat(spread.nodes, " messages, one per node, at ",
                         Rate(cluster.PortBytesPerSecond(Lane::kBetween))),
            std::max(inside, between)},
           {absl::StrCat(handed, " messages inside the last node"),
            PortNs(cluster, Lane::kInside, handed, bytes)},
           Latency(cluster, 1, 1)}};
}

absl::StatusOr<CostComparison> CompareByNode(const char* name,
                                             const ClusterModel& cluster,
                                             int root,
                                             absl::Span<const int> others,
                                             int64_t bytes,
                                             const CollectiveOptions& options) {
  RETURN_IF_ERROR(CheckCollectiveOptions(options));
  RETURN_IF_ERROR(CheckRanks(cluster, root, others));
  RETURN_IF_ERROR(CheckBytes(bytes, others.size()));
  const Spread spread = SpreadOf(cluster, root, others);
  const int ranks = static_cast<int>(others.size());
  return Compare(PlainFrom(cluster, spread, bytes),
                 ByNode(cluster, name, spread, bytes), ranks, bytes * ranks,
                 options);
}

}  // namespace

absl::Status CheckCollectiveOptions(const CollectiveOptions& options) {
  const auto check = [](const char* field, int64_t value, int64_t min,
                        int64_t max) {
    return CheckRange("collective", field, value, min, max);
  };
  RETURN_IF_ERROR(check("min_ranks", options.min_ranks, 1,
                        std::numeric_limits<int>::max()));
  RETURN_IF_ERROR(check("min_bytes", options.min_bytes, 0, kMaxTrafficBytes));
  RETURN_IF_ERROR(check("max_slot_bytes", options.max_slot_bytes, kMinSlotBytes,
                        kMaxTrafficBytes));
  return check("min_slot_bytes", options.min_slot_bytes, kMinSlotBytes,
               options.max_slot_bytes);
}

int64_t PipelineSlot(int64_t bytes, int64_t bytes_per_second,
                     int64_t per_slot_ns, int hops,
                     const CollectiveOptions& options) {
  // Integer square root by bisection on the bounds of a slot.
  const absl::uint128 square =
      absl::uint128(bytes) * absl::uint128(per_slot_ns) *
      absl::uint128(bytes_per_second) / (absl::uint128(hops) * 1'000'000'000);
  int64_t below = options.min_slot_bytes;
  int64_t above = options.max_slot_bytes;
  while (below < above) {
    const int64_t middle = below + (above - below + 1) / 2;
    if (absl::uint128(middle) * absl::uint128(middle) <= square) {
      below = middle;
    } else {
      above = middle - 1;
    }
  }
  return below;
}

absl::StatusOr<CostComparison> CompareBroadcast(
    const ClusterModel& cluster, int root, absl::Span<const int> targets,
    int64_t bytes, const CollectiveOptions& options) {
  RETURN_IF_ERROR(CheckCollectiveOptions(options));
  RETURN_IF_ERROR(CheckRanks(cluster, root, targets));
  RETURN_IF_ERROR(CheckBytes(bytes, targets.size()));
  const Spread spread = SpreadOf(cluster, root, targets);
  const int ranks = static_cast<int>(targets.size());
  return Compare(PlainFrom(cluster, spread, bytes),
                 Chain(cluster, spread, bytes, options), ranks, bytes * ranks,
                 options);
}

absl::StatusOr<CostComparison> CompareScatter(
    const ClusterModel& cluster, int root, absl::Span<const int> targets,
    int64_t bytes, const CollectiveOptions& options) {
  return CompareByNode("scatter by node", cluster, root, targets, bytes,
                       options);
}

absl::StatusOr<CostComparison> CompareGather(const ClusterModel& cluster,
                                             int root,
                                             absl::Span<const int> sources,
                                             int64_t bytes,
                                             const CollectiveOptions& options) {
  return CompareByNode("gather by node", cluster, root, sources, bytes,
                       options);
}

absl::StatusOr<CostComparison> CompareAllToAll(
    const ClusterModel& cluster, int nodes, int64_t bytes,
    const CollectiveOptions& options) {
  RETURN_IF_ERROR(CheckCollectiveOptions(options));
  RETURN_IF_ERROR(
      CheckRange("collective", "nodes", nodes, 1, cluster.figures().num_nodes));
  const int64_t ranks = cluster.figures().ranks_per_node;
  const int64_t world = nodes * ranks;
  RETURN_IF_ERROR(CheckBytes(bytes, world * world));
  const int64_t ports =
      std::min<int64_t>(ranks, cluster.figures().nics_per_node);
  const int64_t sharing = (ranks + ports - 1) / ports;
  const int64_t others = nodes - 1;
  const Cost plain = {
      "point to point",
      {Launch(cluster, 1),
       {absl::StrCat(others * ranks * sharing,
                     " messages through a network port, or ", ranks - 1,
                     " inside"),
        std::max(
            PortNs(cluster, Lane::kBetween, others * ranks * sharing, bytes),
            PortNs(cluster, Lane::kInside, ranks - 1, bytes))},
       Latency(cluster, others > 0 ? 0 : 1, others > 0 ? 1 : 0)}};
  const Cost by_node = {
      "all-to-all by node",
      {Launch(cluster, 2),
       {absl::StrCat(ranks - 1, " messages inside, of ", nodes, " x ", bytes,
                     " bytes"),
        PortNs(cluster, Lane::kInside, ranks - 1, nodes * bytes)},
       {absl::StrCat(others * sharing, " messages between nodes, of ", ranks,
                     " x ", bytes, " bytes"),
        PortNs(cluster, Lane::kBetween, others * sharing, ranks * bytes)},
       Latency(cluster, 1, 1)}};
  return Compare(plain, by_node, static_cast<int>(world),
                 world * (world - 1) * bytes, options);
}

}  // namespace dynatrain::transition
