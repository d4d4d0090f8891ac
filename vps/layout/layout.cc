#include "vps/layout/layout.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "vps/geometry/interval.h"

namespace dynatrain::vps {

Layout::Layout(Mesh mesh, Manifest manifest)
    : mesh_(std::move(mesh)), manifest_(std::move(manifest)) {}

absl::StatusOr<Layout> Layout::Create(Mesh mesh, Manifest manifest) {
  Layout layout(std::move(mesh), std::move(manifest));
  std::map<std::vector<MeshSplit>, int> index_of_rule;
  for (const ManifestTensor& tensor : layout.manifest_.tensors()) {
    Rule rule = {.splits = {},
                 .free_axes = (1u << layout.mesh_.num_axes()) - 1};
    for (const Split& split : tensor.sharding) {
      const std::optional<int> axis = layout.mesh_.AxisIndex(split.axis);
      if (!axis.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "tensor ", tensor.spec.Id(), " is split by axis \"", split.axis,
            "\", which mesh ", layout.mesh_.DebugString(), " does not have"));
      }
      rule.free_axes &= ~(1u << *axis);
      if (layout.mesh_.size(*axis) > 1) {
        rule.splits.push_back({*axis, split.dim});
      }
    }
    const auto [it, is_new] =
        index_of_rule.try_emplace(rule.splits, layout.num_rules());
    if (is_new) layout.rules_.push_back(std::move(rule));
    layout.rule_of_tensor_.push_back(it->second);
  }
  return layout;
}

Box Layout::LocalBox(int rank, int tensor) const {
  Box box = manifest_.tensor(tensor).spec.whole();
  for (const MeshSplit& split : rule(tensor).splits) {
    box = box.With(split.dim,
                   ChunkOf(box.interval(split.dim), mesh_.size(split.axis),
                           mesh_.Coordinate(rank, split.axis)));
  }
  return box;
}

void Layout::ForEachRegion(
    int rank, absl::FunctionRef<void(const OwnedRegion&)> visit) const {
  for (int tensor = 0; tensor < num_tensors(); ++tensor) {
    const Box box = LocalBox(rank, tensor);
    if (box.empty()) continue;
    visit({.tensor = tensor,
           .global = box,
           .local = box.RelativeTo(box.origin()),
           .local_shape = box.shape()});
  }
}

void Layout::ForEachPiece(
    int tensor, const Box& box,
    absl::FunctionRef<void(const Box&, const HolderSet&)> visit) const {
  if (box.empty()) return;
  const Rule& rule = this->rule(tensor);
  // Split by split, the coordinates whose piece meets `box`; `held` is what
  // ranks with the coordinates chosen so far hold, `rank` their smallest.
  const auto descend = [&](auto&& self, size_t depth, const Box& held,
                           int rank) -> void {
    if (depth == rule.splits.size()) {
      visit(*Intersect(held, box), HolderSet(mesh_, rank, rule.free_axes));
      return;
    }
    const auto [axis, dim] = rule.splits[depth];
    const Interval whole = held.interval(dim);
    const Interval chunks = ChunksOverlapping(
        whole, mesh_.size(axis), Intersect(whole, box.interval(dim)));
    for (int64_t c = chunks.begin; c < chunks.end; ++c) {
      self(self, depth + 1, held.With(dim, ChunkOf(whole, mesh_.size(axis), c)),
           rank + static_cast<int>(c) * mesh_.stride(axis));
    }
  };
  descend(descend, 0, manifest_.tensor(tensor).spec.whole(), 0);
}

}  // namespace dynatrain::vps
