#include "tools/simulate/weight_ring.h"

#include "tools/simulate/flow_table.h"
#include "tools/simulate/shard_group.h"

namespace dynatrain::simulate {
namespace {

// All parts of weights, from each rank to the next.
void AddParts(const SwitchCase& change,
              absl::FunctionRef<bool(int tensor)> is_cast, FlowTable& flows) {
  const vps::Layout& layout = change.target();
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      const vps::TensorSpec& spec = layout.tensor(region.tensor);
      if (spec.state() != "param" || !is_cast(region.tensor)) return;
      const int main = *layout.Find(spec.name(), "main");
      const int next =
          AroundShardGroup(ShardGroup(layout, main, region.copy), rank, 1);
      flows.Add(change.TargetOn(rank), change.TargetOn(next),
                region.global.num_elements() * spec.item_bytes());
    });
  }
}

// What the next rank has cast itself need not reach it.
void SubtractOwn(const SwitchCase& change,
                 absl::FunctionRef<bool(int tensor)> is_cast,
                 FlowTable& flows) {
  const vps::Layout& layout = change.target();
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      const vps::TensorSpec& spec = layout.tensor(region.tensor);
      if (spec.state() != "main") return;
      const int weight = *layout.Find(spec.name(), "param");
      if (!is_cast(weight)) return;
      const vps::RankGroup group =
          ShardGroup(layout, region.tensor, region.copy);
      flows.Add(
          change.TargetOn(AroundShardGroup(group, rank, group.ranks() - 1)),
          change.TargetOn(rank),
          -region.global.num_elements() * layout.tensor(weight).item_bytes());
    });
  }
}

}  // namespace

std::vector<transition::Flow> WeightRing(
    const SwitchCase& change, absl::FunctionRef<bool(int tensor)> is_cast) {
  FlowTable flows;
  AddParts(change, is_cast, flows);
  SubtractOwn(change, is_cast, flows);
  return flows.Flows();
}

}  // namespace dynatrain::simulate
