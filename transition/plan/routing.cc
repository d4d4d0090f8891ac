#include "transition/plan/routing.h"

#include <optional>

#include "absl/container/inlined_vector.h"
#include "transition/plan/stripe.h"
#include "vps/geometry/region.h"
#include "vps/layout/holder_set.h"

namespace dynatrain::transition {
namespace {

using vps::Box;
using vps::HolderSet;
using vps::Layout;
using vps::Region;

// Who may send a piece to a target: its holders in the target's member if there
// are any, else all.
class Senders {
 public:
  Senders(const PlanInput& input, const HolderSet& holders, int target_rank)
      : holders_(holders) {
    const uint32_t member = input.target().process(target_rank).member;
    for (int rank : input.source().RanksOfMember(member)) {
      if (holders.Contains(rank)) near_.push_back(rank);
    }
  }
  int size() const {
    return near_.empty() ? holders_.size() : static_cast<int>(near_.size());
  }
  int rank(int index) const {
    return near_.empty() ? holders_.rank(index) : near_[index];
  }

 private:
  const HolderSet& holders_;
  absl::InlinedVector<int, 16> near_;
};

// What the target rank's process holds of the tensor already, if it is in the
// source world.
std::optional<Box> HeldBefore(const PlanInput& input, int target_rank,
                              int tensor) {
  const int source_rank = input.SourceRankOfTarget(target_rank);
  if (source_rank < 0) return std::nullopt;
  return input.source().layout().LocalBox(source_rank, tensor);
}

// The routes of one region that `holders` hold whole and the target lacks.
void RouteFromHolders(const PlanInput& input, const Box& region,
                      const HolderSet& holders, int target_rank, int tensor,
                      RouteVisitor visit) {
  const Senders senders(input, holders, target_rank);
  const int64_t stripe_bytes = input.options().stripe_bytes;
  const HolderSet replicas =
      input.target().layout().HoldersLike(target_rank, tensor);
  const StripeRule rule = {
      .num_senders = senders.size(),
      .item_bytes = input.manifest().tensor(tensor).spec.item_bytes(),
      .stripe_bytes = stripe_bytes,
      .turn = input.line_offset_bytes(tensor) / stripe_bytes,
      .replica = *replicas.IndexOf(target_rank)};
  Stripe(region, rule, [&](const Box& piece, int sender) {
    visit({.tensor = tensor,
           .region = piece,
           .source_rank = senders.rank(sender),
           .target_rank = target_rank});
  });
}

}  // namespace

void ForEachRouteTo(const PlanInput& input, int target_rank, int tensor,
                    RouteVisitor visit) {
  const Box needed = input.target().layout().LocalBox(target_rank, tensor);
  if (needed.empty()) return;
  Region lacking = {needed};
  if (const auto held = HeldBefore(input, target_rank, tensor)) {
    if (const auto kept = Intersect(needed, *held)) {
      visit({.tensor = tensor,
             .region = *kept,
             .source_rank = input.SourceRankOfTarget(target_rank),
             .target_rank = target_rank});
    }
    lacking = Subtract(needed, *held);
  }
  for (const Box& box : lacking) {
    input.source().layout().ForEachPiece(
        tensor, box, [&](const Box& piece, const HolderSet& holders) {
          RouteFromHolders(input, piece, holders, target_rank, tensor, visit);
        });
  }
}

void ForEachRouteFrom(const PlanInput& input, int source_rank, int tensor,
                      RouteVisitor visit) {
  const Layout& source = input.source().layout();
  const Layout& target = input.target().layout();
  const Box held = source.LocalBox(source_rank, tensor);
  const HolderSet holders = source.HoldersLike(source_rank, tensor);
  const auto visit_if_mine = [&](const Route& route) {
    if (route.source_rank == source_rank) visit(route);
  };
  const auto route_to = [&](const Box& needed, int target_rank) {
    // The same cuts as in ForEachRouteTo: first what the target lacks of its
    // whole box, then the part of it that we hold.
    const auto before = HeldBefore(input, target_rank, tensor);
    if (input.SourceRankOfTarget(target_rank) == source_rank) {
      if (const auto kept = Intersect(needed, held)) {
        visit({.tensor = tensor,
               .region = *kept,
               .source_rank = source_rank,
               .target_rank = target_rank});
      }
      return;
    }
    const Region lacking =
        before.has_value() ? Subtract(needed, *before) : Region{needed};
    for (const Box& box : lacking) {
      if (const auto region = Intersect(box, held)) {
        RouteFromHolders(input, *region, holders, target_rank, tensor,
                         visit_if_mine);
      }
    }
  };
  target.ForEachPiece(
      tensor, held, [&](const Box&, const HolderSet& receivers) {
        const Box needed = target.LocalBox(receivers.first(), tensor);
        for (int i = 0; i < receivers.size(); ++i) {
          route_to(needed, receivers.rank(i));
        }
      });
}

}  // namespace dynatrain::transition
