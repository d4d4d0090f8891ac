#include "vps/layout/layout.h"

#include <algorithm>

#include "vps/layout/layout_body.h"
#include "vps/layout/local_space.h"

namespace dynatrain::vps {
namespace {

// The number of a rank in each group. One rank's are worked out once, not once
// per tensor: divisions are what a region costs.
using Numbers = absl::InlinedVector<int, 32>;

Numbers NumbersOf(const LayoutBody& body, int rank) {
  Numbers numbers;
  for (const RankGroup& group : body.groups) {
    numbers.push_back(group.NumberOf(rank));
  }
  return numbers;
}

// `number_of(group)` is the number of the rank that is meant.
template <typename NumberOf>
LocalSpace LocalSpaceOf(const TensorSpec& spec, const PlacementBody& placement,
                        const NumberOf& number_of) {
  LocalSpace space(spec.whole());
  for (const PlacementBody::CutBody& cut : placement.cuts) {
    space.SetSlices(cut.dim, CutSlices(space.slices(cut.dim), cut.rule,
                                       number_of(cut.group)));
  }
  return space;
}

// What piece `number` of the run holds, as positions in the local tensor.
Interval FlatPart(const FlatPosition& flat, int64_t number, int64_t elements) {
  const int64_t begin = number * flat.shard - flat.position;
  return Intersect({begin, begin + flat.shard}, {0, elements});
}

template <typename NumberOf>
void ForEachRegionOfCopy(const LayoutBody& body, int tensor, int copy,
                         const NumberOf& number_of,
                         absl::FunctionRef<void(const OwnedRegion&)> visit) {
  const Held& held = body.held(tensor, copy);
  const PlacementBody& placement = body.body_of(held);
  // Most shards of a run lie elsewhere. The rank's part of the run is judged by
  // the whole tensor first: the local one is no longer, and dearer to find.
  if (placement.flat_group >= 0 &&
      FlatPart(held.flat, number_of(placement.flat_group),
               body.tensors[tensor].whole().num_elements())
          .empty()) {
    return;
  }
  const LocalSpace space =
      LocalSpaceOf(body.tensors[tensor], placement, number_of);
  OwnedRegion region = {.tensor = tensor, .copy = copy};
  int64_t stride = 1;
  for (int dim = space.dims() - 1; dim >= 0; --dim) {
    region.strides[dim] = stride;
    stride *= space.shape()[dim];
  }
  const int64_t elements = stride;
  if (elements == 0) return;
  int64_t shard_begin = 0;
  const auto visit_part = [&](const LocalSpace::Part& part) {
    region.global = part.global;
    region.offset = -shard_begin;
    for (int dim = 0; dim < space.dims(); ++dim) {
      region.offset += part.local_origin[dim] * region.strides[dim];
    }
    visit(region);
  };
  if (placement.flat_group < 0) return space.ForEachPart(visit_part);
  const Interval shard =
      FlatPart(held.flat, number_of(placement.flat_group), elements);
  shard_begin = shard.begin;
  space.ForEachPartOfFlat(shard, visit_part);
}

}  // namespace

int LayoutBody::PositionAt(const Held& held) const {
  const Placement& placement = placements[held.placement];
  int position = 0;
  for (size_t i = 0; i < held.at.size(); ++i) {
    position = position * meshes[placement.mesh].size(placement.located_by[i]) +
               held.at[i];
  }
  return position;
}

int Layout::world_size() const { return body_->meshes[0].world_size(); }
absl::Span<const Mesh> Layout::meshes() const { return body_->meshes; }
absl::Span<const Placement> Layout::placements() const {
  return body_->placements;
}
absl::Span<const std::string> Layout::buffers() const { return body_->buffers; }
int Layout::num_tensors() const {
  return static_cast<int>(body_->tensors.size());
}
const TensorSpec& Layout::tensor(int tensor) const {
  return body_->tensors[tensor];
}
int64_t Layout::num_bytes() const { return body_->num_bytes; }
const Fingerprint& Layout::digest() const { return body_->digest; }

std::optional<int> Layout::Find(absl::string_view name,
                                absl::string_view state) const {
  const auto it = body_->index_of_name.find({name, state});
  if (it == body_->index_of_name.end()) return std::nullopt;
  return it->second;
}

int Layout::num_copies(int tensor) const {
  return body_->first_held[tensor + 1] - body_->first_held[tensor];
}

const Held& Layout::held(int tensor, int copy) const {
  return body_->held(tensor, copy);
}

int Layout::FirstRank(int tensor, int copy) const {
  return body_->RankAt(body_->held(tensor, copy));
}

bool Layout::IsAt(int rank, int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  return body_->body_of(held).located.PositionOf(rank) ==
         body_->PositionAt(held);
}

std::optional<LocalShape> Layout::LocalShapeOf(int rank, int tensor,
                                               int copy) const {
  if (!IsAt(rank, tensor, copy)) return std::nullopt;
  const Held& held = body_->held(tensor, copy);
  const PlacementBody& placement = body_->body_of(held);
  const auto number_of = [&](int group) {
    return body_->groups[group].NumberOf(rank);
  };
  const LocalSpace space =
      LocalSpaceOf(body_->tensors[tensor], placement, number_of);
  if (placement.flat_group < 0) {
    return LocalShape(space.shape().begin(), space.shape().end());
  }
  const Interval shard = FlatPart(held.flat, number_of(placement.flat_group),
                                  space.num_elements());
  return LocalShape{shard.size()};
}

int64_t Layout::BufferOffset(int rank, int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  const int group = body_->body_of(held).flat_group;
  if (group < 0) return held.storage.offset;
  // The tensor begins before the rank's piece of the run, or in it.
  const int64_t piece_begin =
      body_->groups[group].NumberOf(rank) * held.flat.shard;
  return held.storage.offset +
         std::max<int64_t>(0, held.flat.position - piece_begin);
}

void Layout::ForEachRegion(
    int rank, absl::FunctionRef<void(const OwnedRegion&)> visit) const {
  const Numbers numbers = NumbersOf(*body_, rank);
  const auto number_of = [&](int group) { return numbers[group]; };
  absl::InlinedVector<absl::Span<const Shelf::Entry>, 8> open;
  for (const Shelf& shelf : body_->shelves) {
    if (!shelf.At(rank).empty()) open.push_back(shelf.At(rank));
  }
  // A merge of a few lists.
  while (!open.empty()) {
    auto least = std::min_element(
        open.begin(), open.end(),
        [](const auto& a, const auto& b) { return a.front() < b.front(); });
    const Shelf::Entry entry = least->front();
    least->remove_prefix(1);
    if (least->empty()) open.erase(least);
    ForEachRegionOfCopy(*body_, entry.tensor, entry.copy, number_of, visit);
  }
}

void Layout::ForEachRegionOf(
    int rank, int tensor,
    absl::FunctionRef<void(const OwnedRegion&)> visit) const {
  const auto number_of = [&](int group) {
    return body_->groups[group].NumberOf(rank);
  };
  for (int copy = 0; copy < num_copies(tensor); ++copy) {
    if (!IsAt(rank, tensor, copy)) continue;
    ForEachRegionOfCopy(*body_, tensor, copy, number_of, visit);
  }
}

HolderSet Layout::HoldersLike(int rank, int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  const PlacementBody& placement = body_->body_of(held);
  HolderSet holders(body_->RankAt(held));
  holders.AddAll(placement.free);
  const auto add = [&](int group) {
    holders.AddNumber(body_->groups[group],
                      body_->groups[group].NumberOf(rank));
  };
  for (const PlacementBody::CutBody& cut : placement.cuts) add(cut.group);
  if (placement.flat_group >= 0) add(placement.flat_group);
  return holders;
}

int64_t Layout::PieceIndex(int rank, int tensor, int copy) const {
  const PlacementBody& placement = body_->body_of(body_->held(tensor, copy));
  int64_t index = 0;
  const auto add = [&](int group) {
    index = index * body_->groups[group].pieces() +
            body_->groups[group].NumberOf(rank);
  };
  for (const PlacementBody::CutBody& cut : placement.cuts) add(cut.group);
  if (placement.flat_group >= 0) add(placement.flat_group);
  return index;
}

std::ostream& operator<<(std::ostream& out, const OwnedRegion& region) {
  out << "tensor " << region.tensor << " copy " << region.copy << " "
      << region.global << " at " << region.offset << " strides [";
  for (int dim = 0; dim < region.global.dims(); ++dim) {
    out << (dim == 0 ? "" : ", ") << region.strides[dim];
  }
  return out << "]";
}

}  // namespace dynatrain::vps
