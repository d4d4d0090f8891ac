#include "vps/layout/layout_builder.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/layout/layout_body.h"
#include "vps/layout/slices.h"

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
                                 IsOfLane(cut.group, placement.lanes)});
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

  static bool IsOfLane(const AxisGroup& group, absl::Span<const int> lanes) {
    return std::all_of(group.axes.begin(), group.axes.end(), [&](int axis) {
      return std::find(lanes.begin(), lanes.end(), axis) != lanes.end();
    });
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

absl::Status CheckAt(const LayoutBody& body, const Held& held) {
  const Placement& placement = body.placements[held.placement];
  const Mesh& mesh = body.meshes[placement.mesh];
  if (held.at.size() != placement.located_by.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "at has ", held.at.size(), " coordinates, the placement is located by ",
        placement.located_by.size(), " axes"));
  }
  for (size_t i = 0; i < held.at.size(); ++i) {
    const MeshAxis& axis = mesh.axes()[placement.located_by[i]];
    if (held.at[i] >= 0 && held.at[i] < axis.size) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("at: coordinate ", held.at[i], " on axis \"", axis.name,
                     "\" is not in 0..", axis.size - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckCuts(const Placement& placement, const TensorSpec& spec) {
  for (size_t i = 0; i < placement.cuts.size(); ++i) {
    const Cut& cut = placement.cuts[i];
    if (cut.dim >= spec.shape().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cuts[", i, "]: dim ", cut.dim, " is not one of the ",
                       spec.shape().size(), " of shape [",
                       absl::StrJoin(spec.shape(), ", "), "]"));
    }
    if (cut.block_extents.empty()) continue;
    std::optional<int64_t> sum = 0;
    for (int64_t extent : cut.block_extents) {
      sum = CheckedAdd(*sum, extent);
      if (!sum.has_value()) break;
    }
    if (sum == spec.shape()[cut.dim]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "cuts[", i, "]: block_extents sum up to ",
        sum.has_value() ? absl::StrCat(*sum) : "more than fits 63 bits",
        ", dim ", cut.dim, " has ", spec.shape()[cut.dim]));
  }
  return absl::OkStatus();
}

// The piece of a cut that is meant; nullopt: any.
using PieceOf =
    absl::FunctionRef<std::optional<int>(const PlacementBody::CutBody&)>;

// What the cuts leave of a dim at most, in these pieces. The first piece is the
// largest, and of a longer dim it is longer. But for blocks: 3 indices in 3
// blocks, each cut in 2, give 3 to the first piece, 4 indices (2, 2 and 0 to a
// block) only 2. And but for later pieces: of 3 indices in 3 pieces the last
// has 1, of 4 (2, 2 and 0) none. So before such a cut all pieces count.
int64_t MostLocalExtent(absl::Span<const PlacementBody::CutBody> cuts, int dim,
                        int64_t extent, PieceOf piece_of) {
  std::set<int64_t> extents = {extent};
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    if (cut->dim != dim) continue;
    const bool all_count =
        std::any_of(cut + 1, cuts.end(), [&](const auto& later) {
          return later.dim == dim &&
                 (later.rule.num_blocks > 1 || piece_of(later).value_or(0) > 0);
        });
    std::set<int64_t> after;
    const std::optional<int> piece = piece_of(*cut);
    for (const int64_t before : extents) {
      if (all_count && !piece.has_value()) {
        for (int64_t extent : PieceExtents(before, cut->rule)) {
          after.insert(extent);
        }
      } else {
        after.insert(
            Extent(CutSlices({{0, before}}, cut->rule, piece.value_or(0))));
      }
    }
    extents = std::move(after);
  }
  return *extents.rbegin();
}

// The elements of the largest local tensor on lane number `lane`.
int64_t MostLocalElements(const LayoutBody& body, const Held& held,
                          const TensorSpec& spec, int lane) {
  const PlacementBody& placement = body.body_of(held);
  const auto piece_of =
      [&](const PlacementBody::CutBody& cut) -> std::optional<int> {
    if (!cut.of_lane) return std::nullopt;
    return body.groups[cut.group].NumberOf(
        body.groups[placement.lane_group].RankOf(lane));
  };
  int64_t elements = 1;
  for (int dim = 0; dim < spec.whole().dims(); ++dim) {
    elements *= MostLocalExtent(placement.cuts, dim, spec.whole().extent(dim),
                                piece_of);
  }
  return elements;
}

// Of lane number `lane`, at `flat`.
absl::Status CheckFlat(const LayoutBody& body, const Held& held,
                       const TensorSpec& spec, int lane, FlatPosition flat) {
  const int group = body.body_of(held).flat_group;
  const auto [position, shard] = flat;
  if (group < 0) {
    if (flat == FlatPosition{}) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "flat is given, but the placement is not flattened");
  }
  if (position < 0 || shard < 1) {
    return absl::InvalidArgumentError(absl::StrCat("flat: position ", position,
                                                   " and shard ", shard,
                                                   "; at least 0 and 1"));
  }
  const int64_t elements = MostLocalElements(body, held, spec, lane);
  const auto end = CheckedAdd(position, elements);
  const auto run = CheckedMultiply(body.groups[group].pieces(), shard);
  if (!end.has_value() || !run.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("flat: position ", position,
                                                   " or shard ", shard,
                                                   " does not fit 63 bits"));
  }
  if (*end > *run) {
    return absl::InvalidArgumentError(
        absl::StrCat("flat: ", elements, " elements from position ", position,
                     " end at ", *end, ", beyond the run of ",
                     body.groups[group].pieces(), " shards of ", shard));
  }
  return absl::OkStatus();
}

absl::Status CheckStorage(const LayoutBody& body, const Storage& storage) {
  const int buffers = static_cast<int>(body.buffers.size());
  if (storage.buffer < Storage::kOwnTensor || storage.buffer >= buffers) {
    return absl::InvalidArgumentError(absl::StrCat(
        "storage: buffer ", storage.buffer, " is not one of the ", buffers));
  }
  if (storage.offset < 0 ||
      (storage.buffer == Storage::kOwnTensor && storage.offset != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("storage: offset ", storage.offset,
                     "; 0 or more in a buffer, 0 in the tensor's own memory"));
  }
  return absl::OkStatus();
}

absl::Status CheckLanes(const LayoutBody& body, const Held& held,
                        const TensorSpec& spec) {
  const int group = body.body_of(held).lane_group;
  if (group < 0) {
    if (!held.lanes.empty()) {
      return absl::InvalidArgumentError(
          "lanes are given, but the placement has none");
    }
    RETURN_IF_ERROR(CheckFlat(body, held, spec, 0, held.flat));
    return CheckStorage(body, held.storage);
  }
  const int pieces = body.groups[group].pieces();
  if (static_cast<int>(held.lanes.size()) != pieces) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", held.lanes.size(), " lanes; the axes have ",
                     pieces, " coordinates"));
  }
  if (held.flat != FlatPosition() || held.storage != Storage()) {
    return absl::InvalidArgumentError(
        "flat or storage is given, but the placement has lanes: they have it");
  }
  for (int lane = 0; lane < pieces; ++lane) {
    const std::string where = absl::StrCat("lanes[", lane, "]");
    RETURN_IF_ERROR(CheckFlat(body, held, spec, lane, held.lanes[lane].flat),
                    where);
    RETURN_IF_ERROR(CheckStorage(body, held.lanes[lane].storage), where);
  }
  return absl::OkStatus();
}

absl::Status CheckListed(const LayoutBody& body, const Held& held,
                         const TensorSpec& spec) {
  const size_t parts = body.placements[held.placement].listed.size();
  const int copies = static_cast<int>(body.listed.size());
  if (parts == 0) {
    if (held.listed == -1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "listed is given, but the placement is not listed");
  }
  if (held.listed < 0 || held.listed >= copies) {
    return absl::InvalidArgumentError(
        absl::StrCat("listed: ", held.listed, " is not one of the ", copies));
  }
  if (held.storage != Storage()) {
    return absl::InvalidArgumentError(
        "storage is given, but the placement is listed: its parts have it");
  }
  const ListedCopy& copy = body.listed[held.listed];
  if (copy.size() != parts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "listed: there are ", copy.size(), " parts, and ranks of ", parts));
  }
  for (size_t i = 0; i < copy.size(); ++i) {
    RETURN_IF_ERROR(CheckStorage(body, copy[i].storage),
                    absl::StrCat("listed: part ", i));
  }
  RETURN_IF_ERROR(ValidateListedCopy(spec.whole(), copy), "listed");
  return absl::OkStatus();
}

absl::Status CheckHeld(const LayoutBody& body, const Held& held,
                       const TensorSpec& spec) {
  const int placements = static_cast<int>(body.placements.size());
  if (held.placement < 0 || held.placement >= placements) {
    return absl::InvalidArgumentError(absl::StrCat(
        "placement ", held.placement, " is not one of the ", placements));
  }
  RETURN_IF_ERROR(CheckAt(body, held));
  RETURN_IF_ERROR(CheckCuts(body.placements[held.placement], spec));
  RETURN_IF_ERROR(CheckLanes(body, held, spec));
  return CheckListed(body, held, spec);
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

// The canonical form; raise its version with any change.
class Canonical {
 public:
  Canonical() { digest_.Append("dynatrain layout 2"); }

  // Fills in the digests.
  void Digest(LayoutBody& body) {
    Number(body.meshes.size());
    for (const Mesh& mesh : body.meshes) digest_.Append(mesh.DebugString());
    Number(body.buffers.size());
    for (const std::string& buffer : body.buffers) digest_.Append(buffer);
    Number(body.placements.size());
    for (const Placement& placement : body.placements) Add(placement);
    for (const ListedCopy& copy : body.listed) Add(copy);
    for (size_t t = 0; t < body.tensors.size(); ++t) {
      Add(body.tensors[t]);
      Number(body.first_held[t + 1] - body.first_held[t]);
      for (int i = body.first_held[t]; i < body.first_held[t + 1]; ++i) {
        Add(body.helds[i]);
      }
    }
    body.tensors_digest = tensors_.Finish();
    digest_.Append(body.tensors_digest);
    body.digest = digest_.Finish();
  }

 private:
  void Number(int64_t number) { digest_.Append(number); }
  template <typename List>
  void Numbers(const List& numbers) {
    Number(numbers.size());
    for (int64_t number : numbers) Number(number);
  }
  void Add(const AxisGroup& group) {
    Numbers(group.axes);
    Number(group.pieces);
  }
  void Add(const Placement& placement) {
    Number(placement.mesh);
    Numbers(placement.located_by);
    Number(placement.cuts.size());
    for (const Cut& cut : placement.cuts) {
      Add(cut.group);
      Number(cut.dim);
      Number(cut.num_blocks);
      Numbers(cut.block_extents);
    }
    Number(placement.flat.has_value());
    if (placement.flat.has_value()) Add(placement.flat->group);
    // Only where there are some: other layouts keep their digests.
    if (!placement.lanes.empty()) {
      digest_.Append("lanes");
      Numbers(placement.lanes);
    }
    if (placement.listed.empty()) return;
    Number(placement.listed.size());
    for (const std::vector<int>& ranks : placement.listed) Numbers(ranks);
  }
  void Add(const ListedCopy& copy) {
    Number(copy.size());
    for (const ListedMemory& memory : copy) {
      Numbers(memory.local_shape);
      Number(memory.storage.buffer);
      Number(memory.storage.offset);
      Number(memory.regions.size());
      for (const ListedRegion& region : memory.regions) {
        Numbers(region.global.origin());
        Numbers(region.global.shape());
        Number(region.offset);
        Numbers(region.strides);
      }
    }
  }
  void Add(const TensorSpec& spec) {
    tensors_.Append(spec.name()).Append(spec.state());
    tensors_.Append(static_cast<int>(spec.dtype())).Append(spec.shape().size());
    for (int64_t extent : spec.shape()) tensors_.Append(extent);
    tensors_.Append(spec.pad_from().value_or(-1));
  }
  void Add(const Held& held) {
    Number(held.placement);
    Numbers(held.at);
    Add(Lane{held.flat, held.storage});
    if (held.listed >= 0) Number(held.listed);
    for (const Lane& lane : held.lanes) Add(lane);
  }
  void Add(const Lane& lane) {
    Number(lane.flat.position);
    Number(lane.flat.shard);
    Number(lane.storage.buffer);
    Number(lane.storage.offset);
  }

  Fingerprinter digest_;
  Fingerprinter tensors_;
};

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
  Canonical().Digest(*body);
  return Layout(std::move(body));
}

}  // namespace dynatrain::vps
