#include "vps/layout/layout.h"

#include <algorithm>

#include "vps/layout/layout_body.h"
#include "vps/layout/local_space.h"
#include "vps/layout/rank_view.h"

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
void ApplyCuts(const PlacementBody& placement, const NumberOf& number_of,
               LocalSpace& space) {
  for (const PlacementBody::CutBody& cut : placement.cuts) {
    space.SetSlices(cut.dim, CutSlices(space.slices(cut.dim), cut.rule,
                                       number_of(cut.group)));
  }
}

// What piece `number` of the run holds, as positions in the local tensor.
Interval FlatPart(const FlatPosition& flat, int64_t number, int64_t elements) {
  const int64_t begin = number * flat.shard - flat.position;
  return Intersect({begin, begin + flat.shard}, {0, elements});
}

// Visits regions of one rank, copy by copy. The states of a parameter follow
// one another and are spread alike, so the local space of the copy before is
// mostly that of the next, and one region is filled in over and over.
template <typename NumberOf>
class RegionWalk {
 public:
  RegionWalk(const LayoutBody& body, const NumberOf& number_of,
             absl::FunctionRef<void(const OwnedRegion&)> visit)
      : body_(body), number_of_(number_of), visit_(visit) {}

  // REQUIRES: the rank is where the copy is.
  void Visit(int rank, int tensor, int copy) {
    const Held& held = body_.held(tensor, copy);
    if (held.listed >= 0) {
      return VisitListed(*body_.ListedAt(held, rank), tensor, copy);
    }
    SetSpace(body_.whole_of_tensor[tensor], held.placement);
    if (elements_ == 0) return;
    region_.tensor = tensor;
    region_.copy = copy;
    const int flat_group = body_.body_of(held).flat_group;
    if (flat_group < 0) {
      return space_.ForEachPart(
          [this](const LocalSpace::Part& part) { VisitPart(part, 0); });
    }
    const Interval shard = FlatPart(body_.LaneOf(held, number_of_).flat,
                                    number_of_(flat_group), elements_);
    space_.ForEachPartOfFlat(shard, [&](const LocalSpace::Part& part) {
      VisitPart(part, shard.begin);
    });
  }

 private:
  void SetSpace(int whole, int placement) {
    if (placement == placement_ && whole == whole_) return;
    placement_ = placement;
    whole_ = whole;
    space_.Reset(body_.wholes[whole]);
    ApplyCuts(body_.placement_bodies[placement], number_of_, space_);
    region_.strides = {};
    elements_ = 1;
    for (int dim = space_.dims() - 1; dim >= 0; --dim) {
      region_.strides[dim] = elements_;
      elements_ *= space_.shape()[dim];
    }
  }

  void VisitListed(const ListedMemory& memory, int tensor, int copy) {
    for (const ListedRegion& listed : memory.regions) {
      visit_({tensor, copy, listed.global, listed.offset, listed.strides});
    }
  }

  void VisitPart(const LocalSpace::Part& part, int64_t shard_begin) {
    region_.global = part.global;
    region_.offset = -shard_begin;
    for (int dim = 0; dim < space_.dims(); ++dim) {
      region_.offset += part.local_origin[dim] * region_.strides[dim];
    }
    visit_(region_);
  }

  const LayoutBody& body_;
  const NumberOf& number_of_;
  const absl::FunctionRef<void(const OwnedRegion&)> visit_;
  // What space_, elements_ and the strides are of.
  int placement_ = -1;
  int whole_ = -1;
  LocalSpace space_;
  int64_t elements_ = 0;
  OwnedRegion region_;
};

// All copies of which the rank may have a part, ascending: a merge of a few
// lists. `numbers` are the rank's.
template <typename Visit>
void ForEachCopyAt(const LayoutBody& body, int rank, const Numbers& numbers,
                   const Visit& visit) {
  absl::InlinedVector<absl::Span<const Shelf::Entry>, 8> open;
  for (const Shelf& shelf : body.shelves) {
    if (!shelf.At(rank).empty()) open.push_back(shelf.At(rank));
  }
  while (!open.empty()) {
    auto least = std::min_element(
        open.begin(), open.end(),
        [](const auto& a, const auto& b) { return a.front() < b.front(); });
    const Shelf::Entry& entry = least->front();
    least->remove_prefix(1);
    if (least->empty()) open.erase(least);
    if (entry.flat_group >= 0 && !entry.MayBeIn(numbers[entry.flat_group])) {
      continue;
    }
    visit(entry);
  }
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
const Fingerprint& Layout::tensors_digest() const {
  return body_->tensors_digest;
}

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

const ListedCopy& Layout::listed(int tensor, int copy) const {
  return body_->listed[body_->held(tensor, copy).listed];
}

int Layout::FirstRank(int tensor, int copy) const {
  return body_->RankAt(body_->held(tensor, copy));
}

bool Layout::IsAt(int rank, int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  const PlacementBody& placement = body_->body_of(held);
  if (placement.listed.has_value()) {
    return body_->ListedAt(held, rank) != nullptr;
  }
  return placement.located.PositionOf(rank) == body_->PositionAt(held);
}

std::optional<LocalShape> Layout::LocalShapeOf(int rank, int tensor,
                                               int copy) const {
  if (!IsAt(rank, tensor, copy)) return std::nullopt;
  const Held& held = body_->held(tensor, copy);
  const PlacementBody& placement = body_->body_of(held);
  if (const ListedMemory* memory = body_->ListedAt(held, rank)) {
    return LocalShape(memory->local_shape.begin(), memory->local_shape.end());
  }
  const auto number_of = [&](int group) {
    return body_->groups[group].NumberOf(rank);
  };
  LocalSpace space(body_->tensors[tensor].whole());
  ApplyCuts(placement, number_of, space);
  if (placement.flat_group < 0) {
    return LocalShape(space.shape().begin(), space.shape().end());
  }
  const Interval shard =
      FlatPart(body_->LaneOf(held, number_of).flat,
               number_of(placement.flat_group), space.num_elements());
  return LocalShape{shard.size()};
}

int Layout::BufferOf(int rank, int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  const ListedMemory* memory = body_->ListedAt(held, rank);
  return memory == nullptr ? body_->LaneAt(held, rank).storage.buffer
                           : memory->storage.buffer;
}

int64_t Layout::BufferOffset(int rank, int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  if (const ListedMemory* memory = body_->ListedAt(held, rank)) {
    return memory->storage.offset;
  }
  const auto [flat, storage] = body_->LaneAt(held, rank);
  const int group = body_->body_of(held).flat_group;
  if (group < 0) return storage.offset;
  // The tensor begins before the rank's piece of the run, or in it.
  const int64_t piece_begin = body_->groups[group].NumberOf(rank) * flat.shard;
  return storage.offset + std::max<int64_t>(0, flat.position - piece_begin);
}

FlatPosition Layout::FlatPositionOf(int rank, int tensor, int copy) const {
  return body_->LaneAt(body_->held(tensor, copy), rank).flat;
}

void Layout::ForEachRegion(
    int rank, absl::FunctionRef<void(const OwnedRegion&)> visit) const {
  const Numbers numbers = NumbersOf(*body_, rank);
  const auto number_of = [&](int group) { return numbers[group]; };
  RegionWalk walk(*body_, number_of, visit);
  ForEachCopyAt(*body_, rank, numbers, [&](const Shelf::Entry& entry) {
    walk.Visit(rank, entry.tensor, entry.copy);
  });
}

void Layout::ForEachTensorOf(int rank,
                             absl::FunctionRef<void(int)> visit) const {
  int last = -1;
  ForEachCopyAt(*body_, rank, NumbersOf(*body_, rank),
                [&](const Shelf::Entry& entry) {
                  if (entry.tensor == last) return;
                  last = entry.tensor;
                  visit(last);
                });
}

void Layout::ForEachRegionOf(
    int rank, int tensor,
    absl::FunctionRef<void(const OwnedRegion&)> visit) const {
  const auto number_of = [&](int group) {
    return body_->groups[group].NumberOf(rank);
  };
  RegionWalk walk(*body_, number_of, visit);
  for (int copy = 0; copy < num_copies(tensor); ++copy) {
    if (IsAt(rank, tensor, copy)) walk.Visit(rank, tensor, copy);
  }
}

RankView::RankView(const Layout& layout, int rank)
    : body_(layout.body_), rank_(rank), numbers_(NumbersOf(*body_, rank)) {
  for (const PlacementBody& placement : body_->placement_bodies) {
    positions_.push_back(
        placement.listed.has_value() ? -1 : placement.located.PositionOf(rank));
  }
}

bool RankView::IsAt(int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  const int position = positions_[held.placement];
  if (position < 0) return body_->ListedAt(held, rank_) != nullptr;
  return position == body_->PositionAt(held);
}

void RankView::ForEachRegionOf(
    int tensor, absl::FunctionRef<void(const OwnedRegion&)> visit) const {
  const auto number_of = [this](int group) { return numbers_[group]; };
  RegionWalk walk(*body_, number_of, visit);
  const int copies = body_->first_held[tensor + 1] - body_->first_held[tensor];
  for (int copy = 0; copy < copies; ++copy) {
    if (IsAt(tensor, copy)) walk.Visit(rank_, tensor, copy);
  }
}

HolderSet Layout::HoldersLike(int rank, int tensor, int copy) const {
  const Held& held = body_->held(tensor, copy);
  const PlacementBody& placement = body_->body_of(held);
  if (placement.listed.has_value()) {
    const int part = placement.listed->PartOf(rank);
    return HolderSet(body_->placements[held.placement].listed[part]);
  }
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
  if (placement.listed.has_value()) return placement.listed->PartOf(rank);
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
