#include "tools/simulate/elastic_megatron_strategy.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/simulate/flow_table.h"
#include "tools/simulate/shard_group.h"
#include "tools/simulate/weight_ring.h"
#include "vps/layout/layout.h"
#include "vps/layout/rank_group.h"

namespace dynatrain::simulate {
namespace {

using vps::Layout;
using vps::RankGroup;

// Weights are not moved where there are masters to cast them from.
bool IsMoved(const Layout& layout, int tensor) {
  const vps::TensorSpec& spec = layout.tensor(tensor);
  return spec.state() != "param" ||
         !layout.Find(spec.name(), "main").has_value();
}

// The first rank of those that share a part of a tensor with `rank`: it stands
// for them.
int GroupOf(const Layout& layout, int tensor, int copy, int rank) {
  const RankGroup group = ShardGroup(layout, tensor, copy);
  return rank - group.RankOf(group.PositionOf(rank));
}

// What the ranks of one world hold of tensors that are moved, copy 0, and the
// aligned rank of each group.
class Side {
 public:
  struct Part {
    int tensor;
    int group;
    int rank;
    int64_t bytes;
  };

  explicit Side(const Layout& layout) : layout_(layout) {
    for (int rank = 0; rank < layout.world_size(); ++rank) {
      layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
        if (region.copy == 0 && IsMoved(layout, region.tensor))
          Add(rank, region);
      });
    }
  }

  const std::vector<Part>& parts() const { return parts_; }
  int AlignedRank(int tensor, int group) const {
    return aligned_.at({tensor, group}).second;
  }
  int AlignedRankOf(int tensor, int rank) const {
    return AlignedRank(tensor, GroupOf(layout_, tensor, /*copy=*/0, rank));
  }
  // Another rank has the same shard and comes first.
  bool IsReplica(const Part& part) const {
    const RankGroup group = ShardGroup(layout_, part.tensor, /*copy=*/0);
    return group.PositionOf(part.rank) != group.NumberOf(part.rank);
  }

 private:
  void Add(int rank, const vps::OwnedRegion& region) {
    const RankGroup shards = ShardGroup(layout_, region.tensor, region.copy);
    const int group = rank - shards.RankOf(shards.PositionOf(rank));
    parts_.push_back({region.tensor, group, rank,
                      region.global.num_elements() *
                          layout_.tensor(region.tensor).item_bytes()});
    const std::pair<int, int> place = {shards.NumberOf(rank), rank};
    const auto [it, added] = aligned_.insert({{region.tensor, group}, place});
    if (!added) it->second = std::min(it->second, place);
  }

  const Layout& layout_;
  std::vector<Part> parts_;
  // By tensor and group: number of the shard, rank.
  absl::flat_hash_map<std::pair<int, int>, std::pair<int, int>> aligned_;
};

class Planner {
 public:
  explicit Planner(const SwitchCase& change)
      : change_(change), source_(change.source()), target_(change.target()) {}

  std::vector<transition::Flow> Gather() const {
    FlowTable flows;
    for (const Side::Part& part : source_.parts()) {
      if (source_.IsReplica(part)) continue;
      flows.Add(change_.SourceOn(part.rank),
                change_.SourceOn(source_.AlignedRank(part.tensor, part.group)),
                part.bytes);
    }
    return flows.Flows();
  }

  std::vector<transition::Flow> Move() const {
    FlowTable flows;
    change_.ForEachNeededPart([&](const NeededPart& part) {
      if (part.copy != 0 || !IsMoved(change_.target(), part.tensor)) return;
      const int receiver =
          change_.TargetOn(target_.AlignedRankOf(part.tensor, part.rank));
      change_.source().ForEachPiece(
          part.source_tensor, /*copy=*/0, part.box,
          [&](const vps::Piece& piece) {
            const int sender = source_.AlignedRankOf(part.source_tensor,
                                                     piece.holders.first());
            flows.Add(change_.SourceOn(sender), receiver,
                      piece.box.num_elements() * part.item_bytes);
          });
    });
    return flows.Flows();
  }

  std::vector<transition::Flow> Scatter() const {
    FlowTable flows;
    for (const Side::Part& part : target_.parts()) {
      flows.Add(change_.TargetOn(target_.AlignedRank(part.tensor, part.group)),
                change_.TargetOn(part.rank), part.bytes);
    }
    AddCopies(flows);
    return flows.Flows();
  }

  std::vector<transition::Flow> GatherWeights() const {
    return WeightRing(change_, [&](int tensor) {
      return !IsMoved(change_.target(), tensor);
    });
  }

 private:
  // Of a word embedding that two stages have: from the first one.
  void AddCopies(FlowTable& flows) const {
    const Layout& layout = change_.target();
    change_.ForEachNeededPart([&](const NeededPart& part) {
      if (part.copy == 0 || !IsMoved(layout, part.tensor)) return;
      layout.ForEachPiece(
          part.tensor, /*copy=*/0, part.box, [&](const vps::Piece& piece) {
            flows.Add(change_.TargetOn(piece.holders.first()),
                      change_.TargetOn(part.rank),
                      piece.box.num_elements() * part.item_bytes);
          });
    });
  }

  const SwitchCase& change_;
  Side source_;
  Side target_;
};

}  // namespace

absl::StatusOr<Movement> ElasticMegatronStrategy::Plan(
    const SwitchCase& change) const {
  const Planner planner(change);
  Movement movement;
  movement.phases.push_back({.name = "gather", .flows = planner.Gather()});
  movement.phases.push_back({.name = "move", .flows = planner.Move()});
  movement.phases.push_back(
      {.name = "scatter", .flows = planner.Scatter(), .needs_source = false});
  movement.phases.push_back({.name = "gather weights",
                             .flows = planner.GatherWeights(),
                             .needs_source = false});
  return movement;
}

}  // namespace dynatrain::simulate
