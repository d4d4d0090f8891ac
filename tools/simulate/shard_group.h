// ShardGroup: the ranks that share one part of a tensor, each with a shard of
// it (a distributed optimizer's data parallel ranks).
#ifndef TOOLS_SIMULATE_SHARD_GROUP_H_
#define TOOLS_SIMULATE_SHARD_GROUP_H_

#include "vps/layout/layout.h"
#include "vps/layout/rank_group.h"

namespace dynatrain::simulate {

// A group of one if the tensor is not sharded.
inline vps::RankGroup ShardGroup(const vps::Layout& layout, int tensor,
                                 int copy) {
  const vps::Placement& placement = layout.placement(tensor, copy);
  if (!placement.flat.has_value()) return vps::RankGroup();
  return vps::RankGroup(layout.meshes()[placement.mesh], placement.flat->group);
}

// The member of rank's group that is `steps` further around; 0 <= steps.
inline int AroundShardGroup(const vps::RankGroup& group, int rank, int steps) {
  const int position = group.PositionOf(rank);
  return rank - group.RankOf(position) +
         group.RankOf((position + steps) % group.ranks());
}

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_SHARD_GROUP_H_
