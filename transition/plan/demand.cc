#include "transition/plan/demand.h"

#include <algorithm>

#include "vps/geometry/region.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

using vps::Box;
using vps::HolderSet;
using vps::Layout;
using vps::Region;

// What the target rank's process held of the tensor; nullopt if it joins.
std::optional<Box> HeldBefore(const PlanInput& input, int target_rank,
                              int tensor) {
  const int source_rank = input.SourceRankOfTarget(target_rank);
  if (source_rank < 0) return std::nullopt;
  return input.source().layout().LocalBox(source_rank, tensor);
}

// `needed` is the target rank's box.
Region Lacking(const PlanInput& input, const Box& needed, int target_rank,
               int tensor) {
  const std::optional<Box> held = HeldBefore(input, target_rank, tensor);
  if (held.has_value()) return Subtract(needed, *held);
  return needed.empty() ? Region{} : Region{needed};
}

}  // namespace

Senders::Senders(const PlanInput& input, const HolderSet& holders,
                 int target_rank)
    : holders_(holders) {
  const uint32_t member = input.target().process(target_rank).member;
  for (int rank : input.source().RanksOfMember(member)) {
    if (holders.Contains(rank)) near_.push_back(rank);
  }
}

bool Senders::Contains(int source_rank) const {
  if (near_.empty()) return holders_.Contains(source_rank);
  return std::binary_search(near_.begin(), near_.end(), source_rank);
}

std::optional<Box> Kept(const PlanInput& input, int target_rank, int tensor) {
  const std::optional<Box> held = HeldBefore(input, target_rank, tensor);
  if (!held.has_value()) return std::nullopt;
  return Intersect(input.target().layout().LocalBox(target_rank, tensor),
                   *held);
}

void ForEachDemandOf(const PlanInput& input, int target_rank, int tensor,
                     DemandVisitor visit) {
  const Layout& target = input.target().layout();
  const Box needed = target.LocalBox(target_rank, tensor);
  const int replica =
      *target.HoldersLike(target_rank, tensor).IndexOf(target_rank);
  for (const Box& box : Lacking(input, needed, target_rank, tensor)) {
    input.source().layout().ForEachPiece(
        tensor, box, [&](const Box& piece, const HolderSet& holders) {
          visit({piece, target_rank, replica,
                 Senders(input, holders, target_rank)});
        });
  }
}

void ForEachDemandOn(const PlanInput& input, int source_rank, int tensor,
                     DemandVisitor visit) {
  const Layout& source = input.source().layout();
  const Layout& target = input.target().layout();
  const Box held = source.LocalBox(source_rank, tensor);
  const HolderSet holders = source.HoldersLike(source_rank, tensor);
  const auto visit_target = [&](const Box& needed, int target_rank,
                                int replica) {
    // The same cuts as in ForEachDemandOf: first what the target lacks of its
    // whole box, then the part of it that we hold. Our own process lacks
    // nothing of that.
    for (const Box& box : Lacking(input, needed, target_rank, tensor)) {
      const std::optional<Box> region = Intersect(box, held);
      if (!region.has_value()) continue;
      const Senders senders(input, holders, target_rank);
      if (senders.Contains(source_rank)) {
        visit({*region, target_rank, replica, senders});
      }
    }
  };
  target.ForEachPiece(
      tensor, held, [&](const Box&, const HolderSet& receivers) {
        const Box needed = target.LocalBox(receivers.first(), tensor);
        for (int i = 0; i < receivers.size(); ++i) {
          visit_target(needed, receivers.rank(i), i);
        }
      });
}

}  // namespace dynatrain::transition
