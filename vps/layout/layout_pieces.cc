// The inverse of a layout: from a box to its holders. Cut by cut it descends
// into those pieces that meet the box, so what it visits is what it finds.
#include <utility>

#include "vps/layout/layout.h"
#include "vps/layout/layout_body.h"
#include "vps/layout/local_space.h"

namespace dynatrain::vps {
namespace {

class PieceFinder {
 public:
  PieceFinder(const LayoutBody& body, int tensor, int copy, const Box& box,
              absl::FunctionRef<void(const Piece&)> visit)
      : body_(body),
        held_(body.held(tensor, copy)),
        placement_(body.body_of(held_)),
        box_(box),
        visit_(visit),
        space_(body.whole(tensor)) {}

  void Find() {
    if (placement_.listed.has_value()) return FindListed();
    HolderSet holders(body_.RankAt(held_));
    holders.AddAll(placement_.free);
    Descend(0, holders);
  }

 private:
  void FindListed() {
    const std::vector<std::vector<int>>& ranks =
        body_.placements[held_.placement].listed;
    body_.listed_indexes[held_.listed].ForEachMeeting(
        box_, [&](const Box& region, int part) {
          Visit(region, HolderSet(ranks[part]));
        });
  }

  // `space_` and `holders` are those of ranks with the numbers chosen so far.
  void Descend(size_t depth, const HolderSet& holders) {
    if (depth == placement_.cuts.size()) return FindInLocal(holders);
    const PlacementBody::CutBody& cut = placement_.cuts[depth];
    const Slices before = space_.slices(cut.dim);
    for (const Interval& numbers :
         PiecesMeeting(before, cut.rule, box_.interval(cut.dim))) {
      for (int64_t n = numbers.begin; n < numbers.end; ++n) {
        space_.SetSlices(cut.dim, CutSlices(before, cut.rule, n));
        Descend(depth + 1, With(holders, cut.group, n));
      }
    }
    space_.SetSlices(cut.dim, before);
  }

  HolderSet With(HolderSet holders, int group, int64_t number) const {
    holders.AddNumber(body_.groups[group], static_cast<int>(number));
    return holders;
  }

  void FindInLocal(const HolderSet& holders) {
    if (placement_.flat_group < 0) {
      space_.ForEachPart(
          [&](const LocalSpace::Part& part) { Visit(part.global, holders); });
      return;
    }
    // All holders have one lane: its axes are those of cuts.
    const auto [position, shard] = body_.LaneAt(held_, holders.first()).flat;
    // From one shard that meets the box to the next.
    for (int64_t next = space_.NextPositionIn(box_, 0); next >= 0;) {
      const int64_t number = (position + next) / shard;
      const int64_t begin = number * shard - position;
      const Interval run =
          Intersect({begin, begin + shard}, {0, space_.num_elements()});
      const HolderSet all = With(holders, placement_.flat_group, number);
      space_.ForEachPartOfFlat(
          run, [&](const LocalSpace::Part& part) { Visit(part.global, all); });
      next = space_.NextPositionIn(box_, run.end);
    }
  }

  void Visit(const Box& region, const HolderSet& holders) {
    const std::optional<Box> common = Intersect(region, box_);
    if (common.has_value()) visit_({*common, region, holders});
  }

  const LayoutBody& body_;
  const Held& held_;
  const PlacementBody& placement_;
  const Box box_;
  const absl::FunctionRef<void(const Piece&)> visit_;
  LocalSpace space_;
};

}  // namespace

void Layout::ForEachPiece(int tensor, int copy, const Box& box,
                          absl::FunctionRef<void(const Piece&)> visit) const {
  if (box.empty()) return;
  PieceFinder(*body_, tensor, copy, box, visit).Find();
}

}  // namespace dynatrain::vps
