#include "transition/plan/demand.h"

#include <algorithm>

#include "vps/geometry/region.h"
#include "vps/layout/boxes.h"
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
  return vps::LocalBox(input.source().layout(), source_rank, tensor);
}

// `needed` is the target rank's box.
Region Lacking(const PlanInput& input, const Box& needed, int target_rank,
               int tensor) {
  const std::optional<Box> held = HeldBefore(input, target_rank, tensor);
  if (held.has_value()) return Subtract(needed, *held);
  return needed.empty() ? Region{} : Region{needed};
}

// Counts the targets that lack the same tensor: those with another piece, and
// those with the same one.
int64_t TurnOf(const PlanInput& input, int target_rank, int tensor) {
  const Layout& target = input.target().layout();
  return target.PieceIndex(target_rank, tensor, 0) +
         *target.HoldersLike(target_rank, tensor, 0).IndexOf(target_rank);
}

}  // namespace

Senders::Senders(const PlanInput& input, const HolderSet& holders, int tensor,
                 int target_rank)
    : holders_(holders) {
  const uint32_t member = input.target().process(target_rank).member;
  for (int rank : input.source().RanksOfMember(member)) {
    if (holders.Contains(rank)) near_.push_back(rank);
  }
  const PlanOptions& options = input.options();
  const int most = std::min(num_candidates(), options.max_senders);
  size_ = static_cast<int>(std::clamp<int64_t>(
      input.line_span(tensor).line_bytes / options.min_sender_bytes, 1, most));
  // One after the other, so that all candidates serve equally many targets. If
  // all serve this one, the next target's order is turned by one.
  const int64_t turn = TurnOf(input, target_rank, tensor);
  first_ = static_cast<int>(turn * (size_ == num_candidates() ? 1 : size_) %
                            num_candidates());
}

bool Senders::Contains(int source_rank) const {
  std::optional<int> index = holders_.IndexOf(source_rank);
  if (!near_.empty()) {
    const auto it = std::lower_bound(near_.begin(), near_.end(), source_rank);
    if (it == near_.end() || *it != source_rank) return false;
    index = static_cast<int>(it - near_.begin());
  }
  if (!index.has_value()) return false;
  return (*index - first_ + num_candidates()) % num_candidates() < size_;
}

std::optional<Box> Kept(const PlanInput& input, int target_rank, int tensor) {
  const std::optional<Box> held = HeldBefore(input, target_rank, tensor);
  if (!held.has_value()) return std::nullopt;
  return Intersect(vps::LocalBox(input.target().layout(), target_rank, tensor),
                   *held);
}

void ForEachDemandOf(const PlanInput& input, int target_rank, int tensor,
                     DemandVisitor visit) {
  const Layout& target = input.target().layout();
  const Box needed = vps::LocalBox(target, target_rank, tensor);
  for (const Box& box : Lacking(input, needed, target_rank, tensor)) {
    input.source().layout().ForEachPiece(
        tensor, /*copy=*/0, box, [&](const vps::Piece& piece) {
          visit({piece.box, target_rank,
                 Senders(input, piece.holders, tensor, target_rank)});
        });
  }
}

void ForEachDemandOn(const PlanInput& input, int source_rank, int tensor,
                     DemandVisitor visit) {
  const Layout& source = input.source().layout();
  const Layout& target = input.target().layout();
  const Box held = vps::LocalBox(source, source_rank, tensor);
  const HolderSet holders = source.HoldersLike(source_rank, tensor, 0);
  const auto visit_target = [&](const Box& needed, int target_rank) {
    // The same cuts as in ForEachDemandOf: first what the target lacks of its
    // whole box, then the part of it that we hold. Our own process lacks
    // nothing of that.
    for (const Box& box : Lacking(input, needed, target_rank, tensor)) {
      const std::optional<Box> region = Intersect(box, held);
      if (!region.has_value()) continue;
      const Senders senders(input, holders, tensor, target_rank);
      if (senders.Contains(source_rank)) {
        visit({*region, target_rank, senders});
      }
    }
  };
  target.ForEachPiece(tensor, /*copy=*/0, held, [&](const vps::Piece& piece) {
    for (int i = 0; i < piece.holders.size(); ++i) {
      visit_target(piece.region, piece.holders.rank(i));
    }
  });
}

}  // namespace dynatrain::transition
