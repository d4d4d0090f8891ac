#include "tools/simulate/hotspa_strategy.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/simulate/flow_table.h"
#include "vps/layout/holder_set.h"
#include "vps/layout/layout.h"

namespace dynatrain::simulate {
namespace {

// A slice that a rank of the target world needs.
struct Need {
  int tensor;
  vps::Box slice;
  int rank;
  int source_tensor;
  int64_t item_bytes;
  vps::HolderSet holders;

  friend bool operator<(const Need& a, const Need& b) {
    if (a.tensor != b.tensor) return a.tensor < b.tensor;
    if (a.slice != b.slice) return a.slice < b.slice;
    return a.rank < b.rank;
  }
};

class GreedySenders {
 public:
  explicit GreedySenders(const SwitchCase& change)
      : change_(change),
        sent_inside_(change.cluster().num_ranks()),
        sent_between_(change.cluster().num_ranks()) {}

  // The rank of the cluster that sends; the receiver itself if it holds it.
  int Pick(const Need& need) {
    const int receiver = change_.TargetOn(need.rank);
    const int node = change_.cluster().NodeOf(receiver);
    int inside = -1, between = -1;
    for (int i = 0; i < need.holders.size(); ++i) {
      const int holder = change_.SourceOn(need.holders.rank(i));
      if (holder == receiver) return receiver;
      if (change_.cluster().NodeOf(holder) == node) {
        if (inside < 0 || sent_inside_[holder] < sent_inside_[inside]) {
          inside = holder;
        }
      } else if (between < 0 ||
                 sent_between_[holder] < sent_between_[between]) {
        between = holder;
      }
    }
    const int64_t elements = need.slice.num_elements();
    if (inside >= 0) {
      sent_inside_[inside] += elements;
      return inside;
    }
    sent_between_[between] += elements;
    return between;
  }

 private:
  const SwitchCase& change_;
  std::vector<int64_t> sent_inside_;  // elements, by rank of the cluster
  std::vector<int64_t> sent_between_;
};

std::vector<Need> SlicesInOrder(const SwitchCase& change) {
  std::vector<Need> needs;
  change.ForEachNeededPart([&](const NeededPart& part) {
    change.source().ForEachPiece(
        part.source_tensor, /*copy=*/0, part.box, [&](const vps::Piece& piece) {
          needs.push_back({part.tensor, piece.box, part.rank,
                           part.source_tensor, part.item_bytes, piece.holders});
        });
  });
  std::sort(needs.begin(), needs.end());
  return needs;
}

}  // namespace

absl::StatusOr<Movement> HotSpaStrategy::Plan(const SwitchCase& change) const {
  FlowTable flows;
  GreedySenders senders(change);
  for (const Need& need : SlicesInOrder(change)) {
    flows.Add(senders.Pick(need), change.TargetOn(need.rank),
              need.slice.num_elements() * need.item_bytes);
  }
  Movement movement;
  movement.phases.push_back({.name = "pack",
                             .resource = Resource::kDevice,
                             .busiest_bytes = flows.MaxSent()});
  movement.phases.push_back(
      {.name = "exchange", .flows = flows.Flows(), .one_group = true});
  movement.phases.push_back({.name = "unpack",
                             .resource = Resource::kDevice,
                             .busiest_bytes = flows.MaxReceived(),
                             .needs_source = false});
  return movement;
}

}  // namespace dynatrain::simulate
