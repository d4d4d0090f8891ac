#include "transition/schedule/by_node.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace dynatrain::transition {
namespace {

constexpr int kStaged = 0;  // the stream of what passes buffers
constexpr int kDirect = 1;  // and of what doesn't

// A move in two hops, or in one if `middle` is one of its ends. In the buffer a
// piece has the number of who gets it as its copy: there its copies are not one
// rank's, and each rank gets an element once. CollectiveOptions::max_ranks and
// kMaxCopies keep it below 2^31.
void Split(const Moves& moves, int index, int middle, std::vector<Move>& made) {
  Move first = moves.all()[index];
  if (middle == first.sender || middle == first.receiver) {
    first.stream = kDirect;
    made.push_back(first);
    return;
  }
  Move second = first;
  first.receiver = second.sender = middle;
  first.stream = second.stream = kStaged;
  first.into = second.space = Space::kStaging;
  first.piece.copy = second.source_copy =
      second.receiver + moves.num_ranks() * second.piece.copy;
  second.after = first.sender;
  made.push_back(std::move(first));
  made.push_back(std::move(second));
}

// Each stream of each pair as one parcel, in the window `window_of` says.
template <typename WindowOf>
Schedule OneParcelEach(const Moves& moves, std::vector<Move> made,
                       const WindowOf& window_of) {
  std::sort(made.begin(), made.end());
  std::map<int, std::vector<Parcel>> windows;
  Parcel* last = nullptr;
  for (const Move& move : made) {
    if (last == nullptr || last->sender != move.sender ||
        last->receiver != move.receiver || last->stream != move.stream) {
      std::vector<Parcel>& window = windows[window_of(move)];
      window.push_back({.sender = move.sender,
                        .receiver = move.receiver,
                        .stream = move.stream});
      last = &window.back();
    }
    last->bytes += moves.BytesOf(move.piece);
  }
  Schedule schedule;
  for (const auto& [number, window] : windows) schedule.AddWindow(window);
  return schedule;
}

class Finder {
 public:
  Finder(const CollectiveContext& context, const std::vector<bool>& taken)
      : context_(context), cluster_(context.cluster), taken_(taken) {}

  std::vector<Collective> Find() && {
    FindAllToAll();
    FindFromOne(CollectiveKind::kScatter);
    FindFromOne(CollectiveKind::kGather);
    return std::move(found_);
  }

 private:
  // What of a move is at the other end of a scatter (its receiver) or gather.
  static int One(CollectiveKind kind, const Move& move) {
    return kind == CollectiveKind::kScatter ? move.sender : move.receiver;
  }
  static int Other(CollectiveKind kind, const Move& move) {
    return kind == CollectiveKind::kScatter ? move.receiver : move.sender;
  }

  template <typename Function>
  void ForEachLeft(const Function& function) const {
    const absl::Span<const Move> all = context_.moves.all();
    for (int i = 0; i < static_cast<int>(all.size()); ++i) {
      const Move& move = all[i];
      const bool left =
          !taken_[i] && move.stream == 0 && move.space == Space::kSource &&
          cluster_.NodeOf(move.sender) != cluster_.NodeOf(move.receiver);
      if (left) function(i, move);
    }
  }

  int Local(int rank) const { return rank % cluster_.figures().ranks_per_node; }
  int Rank(int node, int local) const {
    return node * cluster_.figures().ranks_per_node + local;
  }

  // Whether all pairs of ranks of different nodes among those that have to do
  // with each other have about the same to move.
  bool IsAllToAll(const std::map<std::pair<int, int>, int64_t>& bytes) const {
    std::set<int> nodes;
    int64_t least = kMaxTrafficBytes;
    int64_t most = 0;
    for (const auto& [pair, of_pair] : bytes) {
      nodes.insert({cluster_.NodeOf(pair.first), cluster_.NodeOf(pair.second)});
      least = std::min(least, of_pair);
      most = std::max(most, of_pair);
    }
    const int64_t n = static_cast<int64_t>(nodes.size());
    const int64_t ranks = cluster_.figures().ranks_per_node;
    return n > 1 && ranks > 1 &&
           static_cast<int64_t>(bytes.size()) == n * (n - 1) * ranks * ranks &&
           most - least <= least / 20;
  }

  void FindAllToAll() {
    std::map<std::pair<int, int>, int64_t> bytes;
    ForEachLeft([&](int, const Move& move) {
      bytes[{move.sender, move.receiver}] += context_.moves.BytesOf(move.piece);
    });
    if (!IsAllToAll(bytes)) return;
    Collective all = {.kind = CollectiveKind::kAllToAll, .num_streams = 2};
    ForEachLeft([&](int i, const Move& move) {
      all.taken.push_back(i);
      Split(context_.moves, i,
            Rank(cluster_.NodeOf(move.sender), Local(move.receiver)),
            all.moves);
    });
    // A rank has two messages each way with its like on each node; nodes meet
    // as ranks do by XOR.
    const int steps = std::max(1, cluster_.figures().max_group_operations / 4);
    all.schedule =
        OneParcelEach(context_.moves, all.moves, [&](const Move& move) {
          const int step =
              cluster_.NodeOf(move.sender) ^ cluster_.NodeOf(move.receiver);
          return step == 0 ? 0 : 1 + step / steps;
        });
    Add(std::move(all));
  }

  // Scatters, or gathers: who has to do with one rank alone, by that rank.
  void FindFromOne(CollectiveKind kind) {
    std::map<int, std::set<int>> ones;  // by the other end
    ForEachLeft([&](int, const Move& move) {
      ones[Other(kind, move)].insert(One(kind, move));
    });
    std::map<int, std::vector<int>> by_one;  // moves
    ForEachLeft([&](int i, const Move& move) {
      if (ones[Other(kind, move)].size() == 1) {
        by_one[One(kind, move)].push_back(i);
      }
    });
    for (auto& [one, indices] : by_one) AddFromOne(kind, one, indices);
  }

  void AddFromOne(CollectiveKind kind, int one, std::vector<int>& indices) {
    std::map<int, std::set<int>> by_node;
    for (const int i : indices) {
      const int rank = Other(kind, context_.moves.all()[i]);
      by_node[cluster_.NodeOf(rank)].insert(rank);
    }
    Collective made = {.kind = kind, .num_streams = 2};
    bool several = false;
    std::map<int, int> leads;  // by node
    for (const auto& [node, ranks] : by_node) {
      several |= ranks.size() > 1;
      // The rank on the same rail if it takes part, else the next one.
      const auto lead = ranks.lower_bound(Rank(node, Local(one)));
      leads[node] = lead == ranks.end() ? *ranks.begin() : *lead;
    }
    if (!several) return;
    for (const int i : indices) {
      const int rank = Other(kind, context_.moves.all()[i]);
      Split(context_.moves, i, leads[cluster_.NodeOf(rank)], made.moves);
    }
    made.taken = std::move(indices);
    // A gather's way inside comes first, a scatter's last.
    const int inside = kind == CollectiveKind::kGather ? 0 : 2;
    made.schedule =
        OneParcelEach(context_.moves, made.moves, [&](const Move& move) {
          return cluster_.LaneOf(move.sender, move.receiver) == Lane::kInside
                     ? inside
                     : 1;
        });
    Add(std::move(made));
  }

  void Add(Collective made) {
    Judge(context_, made);
    // What isn't chosen is left for the next form.
    if (made.chosen()) {
      for (const int i : made.taken) taken_[i] = true;
    }
    found_.push_back(std::move(made));
  }

  const CollectiveContext& context_;
  const ClusterModel& cluster_;
  std::vector<bool> taken_;
  std::vector<Collective> found_;
};

}  // namespace

std::vector<Collective> FindByNode(const CollectiveContext& context,
                                   const std::vector<bool>& taken) {
  return Finder(context, taken).Find();
}

}  // namespace dynatrain::transition
