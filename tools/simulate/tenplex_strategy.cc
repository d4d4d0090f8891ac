#include "tools/simulate/tenplex_strategy.h"

#include <algorithm>
#include <vector>

#include "tools/simulate/flow_table.h"
#include "vps/layout/holder_set.h"
#include "vps/layout/layout.h"
#include "vps/layout/mesh.h"

namespace dynatrain::simulate {
namespace {

int TensorRank(const vps::megatron::Ranks& ranks, int rank) {
  return ranks.dense().Coordinate(rank, *ranks.dense().AxisIndex("tp"));
}

// Holders that differ in their data parallel rank alone hold the same, and the
// first is DP rank 0; of a tensor that every tensor parallel rank has, they
// differ in that too.
int SenderOf(const SwitchCase& change, const vps::HolderSet& holders,
             int target_rank) {
  if (change.source_ranks().tp() != change.target_ranks().tp()) {
    return holders.first();
  }
  const int wanted = TensorRank(change.target_ranks(), target_rank);
  for (int i = 0; i < holders.size(); ++i) {
    if (TensorRank(change.source_ranks(), holders.rank(i)) == wanted) {
      return holders.rank(i);
    }
  }
  return holders.first();
}

// What the busiest rank saves: of what several ranks hold, those of DP rank 0
// save it, each tensor parallel rank its own checkpoint.
int64_t BusiestSave(const SwitchCase& change) {
  const vps::Layout& layout = change.source();
  int64_t busiest = 0;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    int64_t bytes = 0;
    layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      const vps::HolderSet holders =
          layout.HoldersLike(rank, region.tensor, region.copy);
      for (int i = 0; holders.rank(i) != rank; ++i) {
        if (TensorRank(change.source_ranks(), holders.rank(i)) ==
            TensorRank(change.source_ranks(), rank)) {
          return;
        }
      }
      bytes += region.global.num_elements() *
               layout.tensor(region.tensor).item_bytes();
    });
    busiest = std::max(busiest, bytes);
  }
  return busiest;
}

}  // namespace

absl::StatusOr<Movement> TenplexStrategy::Plan(const SwitchCase& change) const {
  FlowTable flows;
  std::vector<int64_t> loads(change.target().world_size());
  change.ForEachNeededPart([&](const NeededPart& part) {
    loads[part.rank] += part.box.num_elements() * part.item_bytes;
    change.source().ForEachPiece(
        part.source_tensor, /*copy=*/0, part.box, [&](const vps::Piece& piece) {
          const int sender = SenderOf(change, piece.holders, part.rank);
          flows.Add(change.SourceOn(sender), change.TargetOn(part.rank),
                    piece.box.num_elements() * part.item_bytes);
        });
  });
  Movement movement;
  movement.phases.push_back({.name = "save",
                             .resource = Resource::kHostLink,
                             .busiest_bytes = BusiestSave(change)});
  movement.phases.push_back({.name = "pull", .flows = flows.Flows()});
  movement.phases.push_back(
      {.name = "load",
       .resource = Resource::kHostLink,
       .busiest_bytes = *std::max_element(loads.begin(), loads.end()),
       .needs_source = false});
  return movement;
}

}  // namespace dynatrain::simulate
