#include "vps/layout/layout_builder.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/layout/held_checks.h"
#include "vps/layout/layout_body.h"
#include "vps/layout/layout_digest.h"
#include "vps/layout/most_local.h"

namespace dynatrain::vps {
namespace {

absl::Status CheckMeshes(absl::Span<const Mesh> meshes) {
  if (meshes.empty()) {
    return absl::InvalidArgumentError("layout: there is no mesh");
  }
  for (const Mesh& mesh : meshes) {
    if (mesh.world_size() == meshes[0].world_size()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "layout: mesh ", mesh.DebugString(), " has ", mesh.world_size(),
        " ranks, mesh ", meshes[0].DebugString(), " has ",
        meshes[0].world_size(), "; all cover the same ranks"));
  }
  return absl::OkStatus();
}

absl::Status CheckPlacements(const LayoutBody& body) {
  for (size_t i = 0; i < body.placements.size(); ++i) {
    const Placement& placement = body.placements[i];
    const std::string where = absl::StrCat("layout: placement ", i);
    if (placement.mesh < 0 || placement.mesh >= body.meshes.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": mesh ", placement.mesh, " is not one of the ",
                       body.meshes.size()));
    }
    RETURN_IF_ERROR(placement.Validate(body.meshes[placement.mesh]), where);
  }
  return absl::OkStatus();
}

// Turns placements into PlacementBodies and shelves.
class Compiler {
 public:
  explicit Compiler(LayoutBody& body) : body_(body) {}

  void Compile() {
    for (const Placement& placement : body_.placements) {
      const Mesh& mesh = body_.meshes[placement.mesh];
      PlacementBody compiled;
      if (!placement.listed.empty()) compiled.listed.emplace(placement.listed);
      compiled.shelf = ShelfOf(placement);
      compiled.located = RankGroup(mesh, {placement.located_by});
      unsigned used = 0;
      for (int axis : placement.located_by) used |= 1u << axis;
      for (const Cut& cut : placement.cuts) {
        const int group = GroupOf(placement.mesh, cut.group);
        const int pieces = body_.groups[group].pieces();
        if (pieces == 1) continue;  // cuts nothing: its axes are free
        for (int axis : cut.group.axes) used |= 1u << axis;
        compiled.cuts.push_back({group,
                                 cut.dim,
                                 {pieces, cut.num_blocks, cut.block_extents},
                                 cut.group.IsWithin(placement.lanes)});
      }
      if (placement.flat.has_value()) {
        compiled.flat_group = GroupOf(placement.mesh, placement.flat->group);
        for (int axis : placement.flat->group.axes) used |= 1u << axis;
      }
      if (!placement.lanes.empty()) {
        compiled.lane_group = GroupOf(placement.mesh, {placement.lanes});
      }
      AxisGroup free;
      for (int axis = 0; axis < mesh.num_axes(); ++axis) {
        if ((used >> axis & 1) == 0) free.axes.push_back(axis);
      }
      compiled.free = RankGroup(mesh, free);
      body_.placement_bodies.push_back(std::move(compiled));
    }
  }

 private:
  int GroupOf(int mesh, const AxisGroup& group) {
    const auto [it, is_new] =
        index_of_group_.try_emplace({mesh, group.axes, group.pieces},
                                    static_cast<int>(body_.groups.size()));
    if (is_new) body_.groups.emplace_back(body_.meshes[mesh], group);
    return it->second;
  }

  int ShelfOf(const Placement& placement) {
    const Mesh& mesh = body_.meshes[placement.mesh];
    std::vector<int> axes = placement.located_by;
    if (!placement.listed.empty()) {
      axes.resize(mesh.num_axes());
      std::iota(axes.begin(), axes.end(), 0);
    }
    const auto [it, is_new] = index_of_shelf_.try_emplace(
        {placement.mesh, axes}, static_cast<int>(body_.shelves.size()));
    if (is_new) body_.shelves.emplace_back().located = RankGroup(mesh, {axes});
    return it->second;
  }

  LayoutBody& body_;
  std::map<std::tuple<int, std::vector<int>, int>, int> index_of_group_;
  std::map<std::pair<int, std::vector<int>>, int> index_of_shelf_;
};

absl::Status CheckTensors(LayoutBody& body) {
  for (size_t i = 0; i < body.tensors.size(); ++i) {
    const TensorSpec& spec = body.tensors[i];
    const bool is_new =
        body.index_of_name
            .try_emplace({spec.name(), spec.state()}, static_cast<int>(i))
            .second;
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("layout: tensor ", spec.Id(), " is there twice"));
    }
    const auto sum = CheckedAdd(body.num_bytes, spec.num_bytes());
    if (!sum.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("layout: up to tensor ", spec.Id(),
                       " there are more bytes than fit 63 bits"));
    }
    body.num_bytes = *sum;
  }
  return absl::OkStatus();
}

Shelf::Entry EntryOf(const LayoutBody& body, int tensor, int copy) {
  const Held& held = body.held(tensor, copy);
  const PlacementBody& placement = body.body_of(held);
  Shelf::Entry entry = {.tensor = tensor, .copy = copy};
  if (placement.flat_group < 0 || placement.lane_group >= 0) return entry;
  entry.flat_group = placement.flat_group;
  entry.shard = held.flat.shard;
  const int64_t most = MostLocalElements(body, held, body.tensors[tensor], 0);
  entry.most_of_run = {held.flat.position, held.flat.position + most};
  return entry;
}

// Where on its shelf a copy stands: at its coordinates; a listed one at each of
// its ranks.
std::vector<int> PlacesOf(const LayoutBody& body, const Held& held) {
  const Placement& placement = body.placements[held.placement];
  if (placement.listed.empty()) return {body.PositionAt(held)};
  const Shelf& shelf = body.shelves[body.body_of(held).shelf];
  std::vector<int> places;
  for (const std::vector<int>& ranks : placement.listed) {
    for (int rank : ranks) places.push_back(shelf.located.PositionOf(rank));
  }
  return places;
}

void FillShelves(LayoutBody& body) {
  using Placed = std::pair<int, Shelf::Entry>;  // the position first
  std::vector<std::vector<Placed>> placed(body.shelves.size());
  for (int tensor = 0; tensor < body.tensors.size(); ++tensor) {
    const int copies = body.first_held[tensor + 1] - body.first_held[tensor];
    for (int copy = 0; copy < copies; ++copy) {
      const Held& held = body.held(tensor, copy);
      const Shelf::Entry entry = EntryOf(body, tensor, copy);
      for (int place : PlacesOf(body, held)) {
        placed[body.body_of(held).shelf].emplace_back(place, entry);
      }
    }
  }
  for (size_t i = 0; i < body.shelves.size(); ++i) {
    Shelf& shelf = body.shelves[i];
    std::sort(placed[i].begin(), placed[i].end());
    for (const auto& [position, entry] : placed[i]) {
      const int at = static_cast<int>(shelf.entries.size());
      shelf.entries.push_back(entry);
      shelf.range_of_position.try_emplace(position, at, at)
          .first->second.second = at + 1;
    }
  }
}

void IndexWholes(LayoutBody& body) {
  absl::flat_hash_map<Box, int> index_of_whole;
  for (const TensorSpec& spec : body.tensors) {
    const auto [it, is_new] = index_of_whole.try_emplace(
        spec.whole(), static_cast<int>(body.wholes.size()));
    if (is_new) body.wholes.push_back(spec.whole());
    body.whole_of_tensor.push_back(it->second);
  }
}

}  // namespace

int LayoutBuilder::AddMesh(Mesh mesh) {
  meshes_.push_back(std::move(mesh));
  return static_cast<int>(meshes_.size()) - 1;
}

int LayoutBuilder::AddBuffer(std::string name) {
  buffers_.push_back(std::move(name));
  return static_cast<int>(buffers_.size()) - 1;
}

int LayoutBuilder::AddPlacement(Placement placement) {
  // The last ones first: tensors of one kind follow one another.
  for (int i = static_cast<int>(placements_.size()) - 1;
       i >= 0 && placement.listed.empty(); --i) {
    if (placements_[i] == placement) return i;
  }
  placements_.push_back(std::move(placement));
  return static_cast<int>(placements_.size()) - 1;
}

int LayoutBuilder::AddListed(ListedCopy copy) {
  for (ListedMemory& memory : copy) {
    std::stable_sort(memory.regions.begin(), memory.regions.end(),
                     [](const ListedRegion& a, const ListedRegion& b) {
                       return a.offset < b.offset;
                     });
  }
  listed_.push_back(std::move(copy));
  return static_cast<int>(listed_.size()) - 1;
}

int LayoutBuilder::AddTensor(TensorSpec spec) {
  tensors_.push_back(std::move(spec));
  return static_cast<int>(tensors_.size()) - 1;
}

void LayoutBuilder::AddCopy(int tensor, Held held) {
  copies_.push_back({tensor, std::move(held)});
}

absl::Status LayoutBuilder::MoveCopies(LayoutBody& body) {
  const int tensors = static_cast<int>(body.tensors.size());
  for (const Copy& copy : copies_) {
    if (copy.tensor >= 0 && copy.tensor < tensors) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "layout: a copy is of tensor ", copy.tensor, "; there are ", tensors));
  }
  std::stable_sort(
      copies_.begin(), copies_.end(),
      [](const Copy& a, const Copy& b) { return a.tensor < b.tensor; });
  body.first_held.assign(tensors + 1, 0);
  for (Copy& copy : copies_) {
    ++body.first_held[copy.tensor + 1];
    body.helds.push_back(std::move(copy.held));
  }
  for (int tensor = 0; tensor < tensors; ++tensor) {
    if (body.first_held[tensor + 1] == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout: tensor ", body.tensors[tensor].Id(), " has no copy"));
    }
  }
  std::partial_sum(body.first_held.begin(), body.first_held.end(),
                   body.first_held.begin());
  return absl::OkStatus();
}

absl::StatusOr<Layout> LayoutBuilder::Build() && {
  auto body = std::make_shared<LayoutBody>();
  body->meshes = std::move(meshes_);
  body->buffers = std::move(buffers_);
  body->placements = std::move(placements_);
  body->listed = std::move(listed_);
  body->tensors = std::move(tensors_);
  IndexWholes(*body);
  RETURN_IF_ERROR(CheckMeshes(body->meshes));
  RETURN_IF_ERROR(CheckPlacements(*body));
  RETURN_IF_ERROR(CheckTensors(*body));
  RETURN_IF_ERROR(MoveCopies(*body));
  Compiler(*body).Compile();
  for (int tensor = 0; tensor < body->tensors.size(); ++tensor) {
    const int first = body->first_held[tensor];
    for (int i = first; i < body->first_held[tensor + 1]; ++i) {
      RETURN_IF_ERROR(
          CheckHeld(*body, body->helds[i], body->tensors[tensor]),
          absl::StrCat("layout: tensor ", body->tensors[tensor].Id(), " copy ",
                       i - first));
    }
  }
  for (const ListedCopy& copy : body->listed) {
    body->listed_indexes.emplace_back(copy);
  }
  FillShelves(*body);
  FillDigests(*body);
  return Layout(std::move(body));
}

}  // namespace dynatrain::vps
