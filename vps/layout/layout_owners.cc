// The owners of one element: the chain of its placement, followed forward.
#include <array>
#include <cassert>

#include "vps/layout/layout.h"
#include "vps/layout/layout_body.h"
#include "vps/layout/slices.h"

namespace dynatrain::vps {
namespace {

// The element in the memory of those who hold it, after some of the cuts.
struct LocalIndex {
  std::array<int64_t, kMaxDims> index = {};
  std::array<int64_t, kMaxDims> shape = {};

  // Its row-major position.
  int64_t Position(int dims) const {
    int64_t position = 0;
    for (int dim = 0; dim < dims; ++dim) {
      position = position * shape[dim] + index[dim];
    }
    return position;
  }
};

}  // namespace

HolderSet Layout::Owners(int tensor, int copy,
                         absl::Span<const int64_t> index) const {
  const Held& held = body_->held(tensor, copy);
  const PlacementBody& placement = body_->body_of(held);
  const Box& whole = body_->tensors[tensor].whole();
  assert(index.size() == whole.dims());
  if (placement.listed.has_value()) {
    const int part = body_->listed_indexes[held.listed].PartAt(index);
    return HolderSet(body_->placements[held.placement].listed[part]);
  }
  LocalIndex local;
  for (int dim = 0; dim < whole.dims(); ++dim) {
    local.index[dim] = index[dim];
    local.shape[dim] = whole.extent(dim);
  }
  HolderSet owners(body_->RankAt(held));
  owners.AddAll(placement.free);
  for (const PlacementBody::CutBody& cut : placement.cuts) {
    const PlaceInCut place =
        FindInCut(local.shape[cut.dim], cut.rule, local.index[cut.dim]);
    owners.AddNumber(body_->groups[cut.group], static_cast<int>(place.piece));
    local.index[cut.dim] = place.index;
    local.shape[cut.dim] = place.extent;
  }
  if (placement.flat_group >= 0) {
    // All owners have one lane: its axes are those of cuts.
    const FlatPosition flat = body_->LaneAt(held, owners.first()).flat;
    const int64_t position = flat.position + local.Position(whole.dims());
    owners.AddNumber(body_->groups[placement.flat_group],
                     static_cast<int>(position / flat.shard));
  }
  return owners;
}

}  // namespace dynatrain::vps
