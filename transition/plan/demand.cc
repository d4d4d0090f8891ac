#include "transition/plan/demand.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "vps/geometry/region.h"

namespace dynatrain::transition {
namespace {

using vps::Box;
using vps::Layout;
using vps::OwnedRegion;
using vps::Region;

using Owned = absl::InlinedVector<OwnedRegion, 2>;

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
      if (!common.has_value()) {
        smaller.push_back(box);
        continue;
      }
      visit(*common, own.copy);
      for (const Box& part : Subtract(box, *common)) smaller.push_back(part);
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

// Whether any of the target rank's neighbors, on its own node at most, is where
// the copy is. Rails are as long as the world, so they play no part.
bool IsNear(const PlanInput& input, int target_rank, int source_tensor,
            int copy) {
  const World& source = input.source();
  for (const Tier tier : {Tier::kDevice, Tier::kMember, Tier::kNode}) {
    const std::optional<uint32_t> group =
        GroupOf(input.target().process(target_rank), tier);
    if (!group.has_value()) continue;
    for (const int rank : source.RanksIn(tier, *group)) {
      if (source.layout().IsAt(rank, source_tensor, copy)) return true;
    }
  }
  return false;
}

// The copy that a target rank gets what it lacks from: the first that is where
// a neighbor is, else the authoritative one.
int SourceCopyFor(const PlanInput& input, int target_rank, int tensor) {
  const int source_tensor = input.SourceTensor(tensor);
  const int copies = input.source().layout().num_copies(source_tensor);
  if (copies == 1) return 0;
  for (int copy = 0; copy < copies; ++copy) {
    if (IsNear(input, target_rank, source_tensor, copy)) return copy;
  }
  return 0;
}

// Whether the target rank's own memory of the copy has the shape that its
// process's source memory of it has.
bool SameShape(const PlanInput& input, int target_rank, int tensor, int copy) {
  return input.target().layout().LocalShapeOf(target_rank, tensor, copy) ==
         input.source().layout().LocalShapeOf(
             input.SourceRankOfTarget(target_rank), input.SourceTensor(tensor),
             copy);
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
    if (SameShape(input, target_rank, tensor, region.copy)) {
      copies |= uint64_t{1} << region.copy;
    }
  }
  return copies;
}

}  // namespace

std::optional<int> Senders::IndexOf(int source_rank) const {
  if (candidates_ == nullptr) {
    if (source_rank != first_) return std::nullopt;
    return 0;
  }
  const std::optional<int> candidate = candidates_->IndexOf(source_rank);
  if (!candidate.has_value()) return std::nullopt;
  const int behind = *candidate - first_;
  const int index = behind < 0 ? behind + num_candidates() : behind;
  if (index >= size_) return std::nullopt;
  return index;
}

DemandFinder::DemandFinder(const PlanInput& input, int source_rank,
                           int target_rank)
    : input_(input),
      source_rank_(source_rank),
      target_rank_(target_rank),
      candidates_(input, source_rank) {
  if (target_rank >= 0) {
    target_view_.emplace(input.target().layout(), target_rank);
  }
}

DemandFinder::Owned DemandFinder::RegionsOf(const vps::RankView& view,
                                            int tensor) {
  Owned owned;
  view.ForEachRegionOf(
      tensor, [&](const OwnedRegion& region) { owned.push_back(region); });
  return owned;
}

const DemandFinder::Owned& DemandFinder::HeldBy(int source_rank, int tensor) {
  std::unique_ptr<Held>& held = held_[source_rank];
  if (held == nullptr) {
    held = std::make_unique<Held>();
    held->view =
        std::make_unique<vps::RankView>(input_.source().layout(), source_rank);
  }
  if (held->tensor != tensor) {
    held->tensor = tensor;
    held->regions = RegionsOf(*held->view, input_.SourceTensor(tensor));
  }
  return held->regions;
}

const DemandFinder::Owned& DemandFinder::HeldBefore(int target_rank,
                                                    int tensor) {
  static const Owned& nothing = *new Owned();
  const int source_rank = input_.SourceRankOfTarget(target_rank);
  return source_rank < 0 ? nothing : HeldBy(source_rank, tensor);
}

Senders DemandFinder::SendersOf(const HeldPiece& piece, int target_rank,
                                int tensor, int target_copy) {
  if (piece.holders.size() == 1) return Senders(piece.holders.first());
  const Service service =
      candidates_.ServiceOf(piece, target_rank, tensor, target_copy);
  const int all = service.candidates->size();
  if (all == 1) return Senders(service.candidates->rank(0));
  if (service.candidates->group != nullptr) {
    return Senders(service.candidates, 0, all);
  }
  const int size = std::min(all, candidates_.MostSenders(tensor));
  return Senders(service.candidates, FirstSender(service.turn, size, all),
                 size);
}

int64_t DemandFinder::ForEachPart(
    int tensor, absl::FunctionRef<void(const KeptPart&)> keep,
    absl::FunctionRef<void(const ZeroPart&)> zero,
    absl::FunctionRef<void(const Demand&)> demand) {
  const Owned needed = RegionsOf(*target_view_, tensor);
  if (needed.empty()) return 0;
  const Owned& held = HeldBefore(target_rank_, tensor);
  const uint64_t adopted =
      AdoptedCopies(input_, target_rank_, tensor, needed, held);
  const int source_tensor = input_.SourceTensor(tensor);
  const int source_copy = SourceCopyFor(input_, target_rank_, tensor);
  const bool pads = input_.PaddingDiffers(tensor);
  int64_t elements = 0;
  for (const OwnedRegion& region : needed) {
    const int copy = region.copy;
    elements += region.global.num_elements();
    std::optional<Box> common = region.global;
    if (pads) {
      for (const Box& box : Subtract(region.global, input_.CommonBox(tensor))) {
        zero({box, copy});
      }
      common = Intersect(region.global, input_.CommonBox(tensor));
      if (!common.has_value()) continue;
    }
    const bool adopts = copy < 64 && (adopted >> copy & 1) != 0;
    const Region lacking =
        SplitOffHeld(*common, copy, held, [&](const Box& box, int own_copy) {
          keep({box, own_copy, copy, adopts});
        });
    for (const Box& box : lacking) {
      input_.source().layout().ForEachPiece(
          source_tensor, source_copy, box, [&](const vps::Piece& piece) {
            demand({piece.box, target_rank_, source_copy, copy,
                    SendersOf({source_tensor, source_copy, piece.holders},
                              target_rank_, tensor, copy)});
          });
    }
  }
  return elements;
}

void DemandFinder::Serve(const OwnedRegion& own, const HeldPiece& from,
                         const Box& needed, int target_rank, int tensor,
                         int target_copy,
                         absl::FunctionRef<void(const Demand&)> visit) {
  if (SourceCopyFor(input_, target_rank, tensor) != own.copy) return;
  // The same cuts as in ForEachPart: first what the target lacks of its whole
  // region, then the part of it that we hold.
  for (const Box& box :
       Lacking(needed, target_copy, HeldBefore(target_rank, tensor))) {
    const std::optional<Box> region = Intersect(box, own.global);
    if (!region.has_value()) continue;
    const Senders senders = SendersOf(from, target_rank, tensor, target_copy);
    if (senders.Contains(source_rank_)) {
      visit({*region, target_rank, own.copy, target_copy, senders});
    }
  }
}

void DemandFinder::ForEachDemandOn(
    int tensor, absl::FunctionRef<void(const Demand&)> visit) {
  const Layout& source = input_.source().layout();
  const Layout& target = input_.target().layout();
  const int source_tensor = input_.SourceTensor(tensor);
  const int own_target = input_.TargetRankOfSource(source_rank_);
  for (const OwnedRegion& own : HeldBy(source_rank_, tensor)) {
    const std::optional<Box> held = InBoth(input_, tensor, own.global);
    if (!held.has_value()) continue;
    const HeldPiece from = {
        source_tensor, own.copy,
        source.HoldersLike(source_rank_, source_tensor, own.copy)};
    for (int copy = 0; copy < target.num_copies(tensor); ++copy) {
      target.ForEachPiece(tensor, copy, *held, [&](const vps::Piece& piece) {
        const std::optional<Box> needed = InBoth(input_, tensor, piece.region);
        const auto serve = [&](int rank) {
          // Our own process lacks nothing of what we hold.
          if (rank == own_target) return;
          Serve(own, from, *needed, rank, tensor, copy, visit);
        };
        if (from.holders.size() > 1) {
          for (const int rank :
               candidates_.ReceiversOf(from, {tensor, copy, piece.holders})) {
            serve(rank);
          }
          return;
        }
        for (int i = 0; i < piece.holders.size(); ++i) {
          serve(piece.holders.rank(i));
        }
      });
    }
  }
}

}  // namespace dynatrain::transition
