#include "transition/plan/demand.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "vps/geometry/region.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

using vps::Box;
using vps::HolderSet;
using vps::Layout;
using vps::OwnedRegion;
using vps::Region;

using Owned = absl::InlinedVector<OwnedRegion, 2>;

Owned RegionsOf(const Layout& layout, int rank, int tensor) {
  Owned owned;
  layout.ForEachRegionOf(rank, tensor, [&](const OwnedRegion& region) {
    owned.push_back(region);
  });
  return owned;
}

// What the target rank's process held of the tensor; nothing if it joins.
Owned HeldBefore(const PlanInput& input, int target_rank, int tensor) {
  const int source_rank = input.SourceRankOfTarget(target_rank);
  if (source_rank < 0) return {};
  return RegionsOf(input.source().layout(), source_rank,
                   input.SourceTensor(tensor));
}

// Calls visit(region, source copy) with the parts of `needed` that are in
// `held`: those of the copy of the same index first, so that memory of the same
// form is found. Returns the rest. Both ends of a route cut with it.
template <typename Visit>
Region SplitOffHeld(const Box& needed, int target_copy, const Owned& held,
                    Visit visit) {
  Region rest = {needed};
  const auto take = [&](const OwnedRegion& own) {
    Region smaller;
    for (const Box& box : rest) {
      const std::optional<Box> common = Intersect(box, own.global);
      if (common.has_value()) visit(*common, own.copy);
      for (const Box& part : Subtract(box, own.global)) smaller.push_back(part);
    }
    rest.swap(smaller);
  };
  for (const OwnedRegion& own : held) {
    if (own.copy == target_copy) take(own);
  }
  for (const OwnedRegion& own : held) {
    if (own.copy != target_copy) take(own);
  }
  return rest;
}

Region Lacking(const Box& needed, int target_copy, const Owned& held) {
  return SplitOffHeld(needed, target_copy, held, [](const Box&, int) {});
}

// `box` without what only one side has of a padded tensor.
std::optional<Box> InBoth(const PlanInput& input, int tensor, const Box& box) {
  if (!input.PaddingDiffers(tensor)) return box;
  return Intersect(box, input.CommonBox(tensor));
}

// The copy that a target rank gets what it lacks from: the first that is where
// a rank of its member is, else the authoritative one.
int SourceCopyFor(const PlanInput& input, int target_rank, int tensor) {
  const Layout& source = input.source().layout();
  const int source_tensor = input.SourceTensor(tensor);
  const int copies = source.num_copies(source_tensor);
  if (copies == 1) return 0;
  const uint32_t member = input.target().process(target_rank).member;
  for (int copy = 0; copy < copies; ++copy) {
    for (int rank : input.source().RanksOfMember(member)) {
      if (source.IsAt(rank, source_tensor, copy)) return copy;
    }
  }
  return 0;
}

// Counts the targets that lack the same tensor: those with another piece, and
// those with the same one.
int64_t TurnOf(const PlanInput& input, int target_rank, int tensor, int copy) {
  const Layout& target = input.target().layout();
  return target.PieceIndex(target_rank, tensor, copy) +
         *target.HoldersLike(target_rank, tensor, copy).IndexOf(target_rank);
}

// The copies of the target whose memory is, element by element, that of the
// source copy of the same index in the same process: a bit per copy.
uint64_t AdoptedCopies(const PlanInput& input, int target_rank, int tensor,
                       const Owned& needed, const Owned& held) {
  const auto in_copy = [](const Owned& owned, int copy) {
    const auto of_copy = [copy](const OwnedRegion& r) {
      return r.copy == copy;
    };
    const auto begin = std::find_if(owned.begin(), owned.end(), of_copy);
    return std::pair(begin, std::find_if_not(begin, owned.end(), of_copy));
  };
  const auto same = [](const OwnedRegion& a, const OwnedRegion& b) {
    if (a.global != b.global || a.offset != b.offset) return false;
    for (int dim = 0; dim < a.global.dims(); ++dim) {
      // Along a dim of one index nothing is strided over.
      if (a.global.extent(dim) > 1 && a.strides[dim] != b.strides[dim]) {
        return false;
      }
    }
    return true;
  };
  uint64_t copies = 0;
  for (const OwnedRegion& region : needed) {
    const auto [begin, end] = in_copy(needed, region.copy);
    const auto [own_begin, own_end] = in_copy(held, region.copy);
    if (region.copy >= 64 || &*begin != &region || own_begin == own_end) {
      continue;
    }
    if (!std::equal(begin, end, own_begin, own_end, same)) continue;
    const auto shape =
        input.target().layout().LocalShapeOf(target_rank, tensor, region.copy);
    if (shape == input.source().layout().LocalShapeOf(
                     input.SourceRankOfTarget(target_rank),
                     input.SourceTensor(tensor), region.copy)) {
      copies |= uint64_t{1} << region.copy;
    }
  }
  return copies;
}

}  // namespace

Senders::Senders(const PlanInput& input, const HolderSet& holders, int tensor,
                 int source_copy, int target_rank, int target_copy)
    : holders_(holders), size_(1) {
  if (holders.size() == 1) return;
  placement_ = input.source()
                   .layout()
                   .held(input.SourceTensor(tensor), source_copy)
                   .placement;
  const uint32_t member = input.target().process(target_rank).member;
  member_ = member;
  for (int rank : input.source().RanksOfMember(member)) {
    if (holders.Contains(rank)) near_.push_back(rank);
  }
  if (num_candidates() == 1) return;
  if (input.shares() != nullptr) {
    group_ = &input.shares()->groups.at(key());
    size_ = num_candidates();
    return;
  }
  const PlanOptions& options = input.options();
  const int most = std::min(num_candidates(), options.max_senders);
  size_ = static_cast<int>(std::clamp<int64_t>(
      input.line_span(tensor).line_bytes / options.min_sender_bytes, 1, most));
  // One after the other, so that all candidates serve equally many targets. If
  // all serve this one, the next target's order is turned by one.
  const int64_t turn = TurnOf(input, target_rank, tensor, target_copy);
  first_ = static_cast<int>(turn * (size_ == num_candidates() ? 1 : size_) %
                            num_candidates());
}

std::optional<int> Senders::IndexOf(int source_rank) const {
  std::optional<int> candidate;
  if (near_.empty()) {
    candidate = holders_.IndexOf(source_rank);
  } else {
    const auto it = std::lower_bound(near_.begin(), near_.end(), source_rank);
    if (it != near_.end() && *it == source_rank) {
      candidate = static_cast<int>(it - near_.begin());
    }
  }
  if (!candidate.has_value()) return std::nullopt;
  const int index = (*candidate - first_ + num_candidates()) % num_candidates();
  if (index >= size_) return std::nullopt;
  return index;
}

void ForEachPartOf(const PlanInput& input, int target_rank, int tensor,
                   absl::FunctionRef<void(const KeptPart&)> keep,
                   absl::FunctionRef<void(const ZeroPart&)> zero,
                   absl::FunctionRef<void(const Demand&)> demand) {
  const Owned needed = RegionsOf(input.target().layout(), target_rank, tensor);
  if (needed.empty()) return;
  const Owned held = HeldBefore(input, target_rank, tensor);
  const uint64_t adopted =
      AdoptedCopies(input, target_rank, tensor, needed, held);
  const int source_copy = SourceCopyFor(input, target_rank, tensor);
  for (const OwnedRegion& region : needed) {
    const int copy = region.copy;
    const std::optional<Box> common = InBoth(input, tensor, region.global);
    if (input.PaddingDiffers(tensor)) {
      for (const Box& box : Subtract(region.global, input.CommonBox(tensor))) {
        zero({box, copy});
      }
    }
    if (!common.has_value()) continue;
    const bool adopts = copy < 64 && (adopted >> copy & 1) != 0;
    const Region lacking =
        SplitOffHeld(*common, copy, held, [&](const Box& box, int own_copy) {
          keep({box, own_copy, copy, adopts});
        });
    for (const Box& box : lacking) {
      input.source().layout().ForEachPiece(
          input.SourceTensor(tensor), source_copy, box,
          [&](const vps::Piece& piece) {
            demand({piece.box, target_rank, source_copy, copy,
                    Senders(input, piece.holders, tensor, source_copy,
                            target_rank, copy)});
          });
    }
  }
}

void ForEachDemandOn(const PlanInput& input, int source_rank, int tensor,
                     absl::FunctionRef<void(const Demand&)> visit) {
  const Layout& source = input.source().layout();
  const Layout& target = input.target().layout();
  const int source_tensor = input.SourceTensor(tensor);
  const auto serve = [&](const OwnedRegion& own, const HolderSet& holders,
                         const Box& needed, int target_rank, int target_copy) {
    if (SourceCopyFor(input, target_rank, tensor) != own.copy) return;
    // The same cuts as in ForEachPartOf: first what the target lacks of its
    // whole region, then the part of it that we hold. Our own process lacks
    // nothing of that.
    for (const Box& box :
         Lacking(needed, target_copy, HeldBefore(input, target_rank, tensor))) {
      const std::optional<Box> region = Intersect(box, own.global);
      if (!region.has_value()) continue;
      const Senders senders(input, holders, tensor, own.copy, target_rank,
                            target_copy);
      if (senders.Contains(source_rank)) {
        visit({*region, target_rank, own.copy, target_copy, senders});
      }
    }
  };
  for (const OwnedRegion& own : RegionsOf(source, source_rank, source_tensor)) {
    const std::optional<Box> held = InBoth(input, tensor, own.global);
    if (!held.has_value()) continue;
    const HolderSet holders =
        source.HoldersLike(source_rank, source_tensor, own.copy);
    for (int copy = 0; copy < target.num_copies(tensor); ++copy) {
      target.ForEachPiece(tensor, copy, *held, [&](const vps::Piece& piece) {
        const std::optional<Box> needed = InBoth(input, tensor, piece.region);
        for (int i = 0; i < piece.holders.size(); ++i) {
          serve(own, holders, *needed, piece.holders.rank(i), copy);
        }
      });
    }
  }
}

}  // namespace dynatrain::transition
