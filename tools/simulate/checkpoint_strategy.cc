#include "tools/simulate/checkpoint_strategy.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "vps/layout/holder_set.h"
#include "vps/layout/layout.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;
using transition::World;

int NodeOf(const World& world, const ClusterModel& cluster, int rank) {
  return cluster.NodeOf(static_cast<int>(world.process(rank).id - 1));
}

// What several ranks hold, once.
struct Shard {
  int64_t bytes;
  int tensor;
  int rank;  // the first holder
  vps::HolderSet holders;

  // Fewest holders first, then the largest.
  friend bool operator<(const Shard& a, const Shard& b) {
    return std::make_tuple(a.holders.size(), -a.bytes, a.tensor, a.rank) <
           std::make_tuple(b.holders.size(), -b.bytes, b.tensor, b.rank);
  }
};

// By the first of their holders. Copies of one tensor are saved once.
std::vector<Shard> ShardsOf(const vps::Layout& layout) {
  std::vector<Shard> shards;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    int open = -1;  // the tensor whose regions `shards.back()` collects
    layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      if (region.copy != 0) return;
      const vps::HolderSet holders =
          layout.HoldersLike(rank, region.tensor, region.copy);
      if (holders.first() != rank) return;
      const int64_t bytes = region.global.num_elements() *
                            layout.tensor(region.tensor).item_bytes();
      if (region.tensor == open) {
        shards.back().bytes += bytes;
        return;
      }
      open = region.tensor;
      shards.push_back({bytes, region.tensor, rank, holders});
    });
  }
  std::sort(shards.begin(), shards.end());
  return shards;
}

Phase StoragePhase(std::string name, const World& world,
                   const ClusterModel& cluster,
                   const std::vector<int64_t>& bytes_of_rank) {
  Phase phase = {.name = std::move(name), .resource = Resource::kStorage};
  std::vector<int64_t> of_node(cluster.figures().num_nodes);
  for (int rank = 0; rank < world.size(); ++rank) {
    phase.total_bytes += bytes_of_rank[rank];
    int64_t& node = of_node[NodeOf(world, cluster, rank)];
    node += bytes_of_rank[rank];
    phase.busiest_bytes = std::max(phase.busiest_bytes, node);
  }
  return phase;
}

}  // namespace

Phase SaveCheckpoint(const World& world, const ClusterModel& cluster) {
  std::vector<int64_t> saved(world.size());
  for (const Shard& shard : ShardsOf(world.layout())) {
    int least = shard.holders.rank(0);
    for (int i = 1; i < shard.holders.size(); ++i) {
      const int holder = shard.holders.rank(i);
      if (std::make_pair(saved[holder], holder) <
          std::make_pair(saved[least], least)) {
        least = holder;
      }
    }
    saved[least] += shard.bytes;
  }
  return StoragePhase("save", world, cluster, saved);
}

Phase LoadCheckpoint(const World& world, const ClusterModel& cluster) {
  std::vector<int64_t> loaded(world.size());
  for (int rank = 0; rank < world.size(); ++rank) {
    world.layout().ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      loaded[rank] += region.global.num_elements() *
                      world.layout().tensor(region.tensor).item_bytes();
    });
  }
  Phase phase = StoragePhase("load", world, cluster, loaded);
  phase.needs_source = false;
  return phase;
}

absl::StatusOr<Movement> CheckpointStrategy::Plan(
    const SwitchCase& change) const {
  Movement movement;
  movement.phases.push_back(
      SaveCheckpoint(change.input().source(), change.cluster()));
  movement.phases.push_back(
      LoadCheckpoint(change.input().target(), change.cluster()));
  return movement;
}

}  // namespace dynatrain::simulate
