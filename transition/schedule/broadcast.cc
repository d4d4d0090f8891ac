#include "transition/schedule/broadcast.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "transition/schedule/chain_tree.h"

namespace dynatrain::transition {
namespace {

// Indices of moves of one region from one rank, by ascending receiver.
using Group = std::vector<int>;

// The regions that a root sends to the same ranks.
struct Chain {
  int root = 0;
  std::vector<int> targets;
  std::vector<Group> groups;
  int64_t bytes = 0;
  std::vector<Hop> hops;
  int64_t slot_bytes = 0;
};
using Chains = std::vector<Chain>;

// Slots begin at multiples of it, so that most elements are whole. One that
// isn't goes with the later slot: PiecesOf rounds down alike at every hop, so a
// rank passes on in a slot just what it received in it.
constexpr int64_t kSlotUnit = 512;

// The moves of one region, one for each receiver, that start where it is.
std::vector<std::vector<int>> Regions(const Moves& moves) {
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(moves.all().size()); ++i) {
    const Move& move = moves.all()[i];
    if (move.sender != move.receiver && move.stream == 0 &&
        move.space == Space::kSource) {
      order.push_back(i);
    }
  }
  const auto key = [&](int i) {
    const Move& move = moves.all()[i];
    return std::tie(move.piece.tensor, move.piece.region, move.receiver,
                    move.piece.copy, move.sender);
  };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return key(a) < key(b); });
  std::vector<std::vector<int>> regions;
  const Move* last = nullptr;
  for (const int i : order) {
    const Move& move = moves.all()[i];
    const bool same = last != nullptr &&
                      last->piece.tensor == move.piece.tensor &&
                      last->piece.region == move.piece.region;
    if (!same) regions.emplace_back();
    // Of two copies on one rank, the second comes by itself.
    if (!same || last->receiver != move.receiver) regions.back().push_back(i);
    last = &move;
  }
  return regions;
}

// By the ranks that need the regions, then root, then the ranks that it sends
// them to.
using Key = std::pair<int, std::vector<int>>;
using Families = std::map<std::vector<int>, std::map<Key, Chain>>;

Families FamiliesOf(const Moves& moves) {
  Families families;
  for (const std::vector<int>& region : Regions(moves)) {
    if (region.size() < 2) continue;
    std::vector<int> receivers;
    std::map<int, Group> by_root;
    for (const int i : region) {
      receivers.push_back(moves.all()[i].receiver);
      by_root[moves.all()[i].sender].push_back(i);
    }
    std::map<Key, Chain>& family = families[receivers];
    for (auto& [root, group] : by_root) {
      std::vector<int> targets;
      for (const int i : group) targets.push_back(moves.all()[i].receiver);
      Chain& chain = family[{root, targets}];
      chain.root = root;
      chain.targets = std::move(targets);
      chain.bytes += moves.BytesOf(moves.all()[group[0]].piece);
      chain.groups.push_back(std::move(group));
    }
  }
  return families;
}

// Chains to the same targets, turned against each other.
void AddHops(const ClusterModel& cluster, Chains& chains) {
  std::map<std::vector<int>, int> turns;
  for (const Chain& chain : chains) ++turns[chain.targets];
  std::map<std::vector<int>, int> turn;
  for (Chain& chain : chains) {
    chain.hops = ChainTree(cluster, chain.root, chain.targets,
                           turn[chain.targets]++, turns[chain.targets]);
  }
}

int Depth(const Chains& chains) {
  int depth = 0;
  for (const Chain& chain : chains) {
    depth = std::max(depth, chain.hops.back().depth);
  }
  return depth;
}

// The most that passes one port of the slowest lane in use.
std::pair<Lane, int64_t> Load(const ClusterModel& cluster,
                              const Chains& chains) {
  std::array<std::map<int, int64_t>, 2> loads;  // by lane: port and direction
  std::array<int64_t, 2> most = {0, 0};
  for (const Chain& chain : chains) {
    for (const Hop& hop : chain.hops) {
      const Lane lane = cluster.LaneOf(hop.from, hop.to);
      const auto index = static_cast<size_t>(lane);
      for (const int port : {2 * cluster.PortOf(lane, hop.from),
                             2 * cluster.PortOf(lane, hop.to) + 1}) {
        most[index] = std::max(most[index], loads[index][port] += chain.bytes);
      }
    }
  }
  const Lane lane = most[1] > 0 ? Lane::kBetween : Lane::kInside;
  return {lane, most[static_cast<size_t>(lane)]};
}

// How many windows the bytes of the busiest port are spread over, if `fill`
// windows pass before all are busy.
int64_t NumSlots(const CollectiveContext& context, const Chains& chains,
                 int fill) {
  const auto [lane, load] = Load(context.cluster, chains);
  const ClusterFigures& figures = context.cluster.figures();
  const int64_t window_ns =
      context.cluster.LatencyNs(lane) + figures.message_ns +
      (context.execution == Execution::kGrouped ? figures.group_ns : 0);
  const int64_t slot =
      PipelineSlot(load, context.cluster.PortBytesPerSecond(lane), window_ns,
                   std::max(1, fill), context.options);
  int64_t hops = 0;
  for (const Chain& chain : chains) {
    hops += static_cast<int64_t>(chain.hops.size());
  }
  return std::clamp<int64_t>(
      (load + slot - 1) / slot, 1,
      std::max<int64_t>(1, context.options.max_parcels / hops));
}

Schedule Windows(const Chains& chains) {
  std::vector<std::vector<Parcel>> windows;
  for (int stream = 0; stream < static_cast<int>(chains.size()); ++stream) {
    const Chain& chain = chains[stream];
    int64_t slot = 0;
    for (int64_t at = 0; at < chain.bytes; at += chain.slot_bytes, ++slot) {
      const int64_t bytes = std::min(chain.slot_bytes, chain.bytes - at);
      for (const Hop& hop : chain.hops) {
        const auto window = static_cast<size_t>(slot + hop.depth);
        if (window >= windows.size()) windows.resize(window + 1);
        windows[window].push_back({hop.from, hop.to, at, bytes, stream});
      }
    }
  }
  Schedule schedule;
  for (const std::vector<Parcel>& window : windows) schedule.AddWindow(window);
  return schedule;
}

void AddMoves(const Moves& moves, const Chain& chain, int stream,
              std::vector<Move>& made) {
  for (const Group& group : chain.groups) {
    std::map<int, const Move*> to;  // by receiver
    for (const int i : group) to[moves.all()[i].receiver] = &moves.all()[i];
    for (const Hop& hop : chain.hops) {
      Move move = *to[hop.to];
      move.sender = hop.from;
      move.stream = stream;
      if (hop.after >= 0) {
        move.source_copy = to[hop.from]->piece.copy;
        move.space = Space::kTarget;
        move.after = hop.after;
      }
      made.push_back(move);
    }
  }
}

Collective Make(const CollectiveContext& context, Chains chains, int fill) {
  Collective made = {.kind = CollectiveKind::kBroadcast};
  const int64_t slots = NumSlots(context, chains, fill);
  for (int stream = 0; stream < static_cast<int>(chains.size()); ++stream) {
    Chain& chain = chains[stream];
    for (const Group& group : chain.groups) {
      made.taken.insert(made.taken.end(), group.begin(), group.end());
    }
    const int64_t even = (chain.bytes + slots - 1) / slots;
    chain.slot_bytes = (even + kSlotUnit - 1) / kSlotUnit * kSlotUnit;
    AddMoves(context.moves, chain, stream, made.moves);
  }
  std::sort(made.taken.begin(), made.taken.end());
  made.num_streams = static_cast<int>(chains.size());
  made.schedule = Windows(chains);
  Judge(context, made);
  return made;
}

}  // namespace

std::vector<Collective> FindBroadcasts(const CollectiveContext& context) {
  std::vector<Collective> found;
  for (auto& [receivers, family] : FamiliesOf(context.moves)) {
    Chains chains;
    bool repeats = false;
    for (auto& [key, chain] : family) {
      repeats |= chain.targets.size() > 1;
      chains.push_back(std::move(chain));
    }
    if (!repeats) continue;
    AddHops(context.cluster, chains);
    // Turned chains are busy everywhere sooner, by how much is easier tried
    // than told.
    const int depth = Depth(chains);
    Collective best = Make(context, chains, depth);
    Collective wide = Make(context, chains, depth / 4);
    if (wide.costs.best().ns() < best.costs.best().ns()) best = std::move(wide);
    found.push_back(std::move(best));
  }
  return found;
}

}  // namespace dynatrain::transition
