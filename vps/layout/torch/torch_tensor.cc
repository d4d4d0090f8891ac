#include "vps/layout/torch/torch_tensor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/layout/rank_group.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {
namespace {

// The coordinates on the pipeline axis where `tensor` is; empty: everywhere.
absl::StatusOr<std::vector<int>> PipelineRanks(const TorchWorld& world,
                                               const TorchTensor& tensor) {
  std::vector<int> ranks;
  for (int stage : tensor.stages) {
    if (!world.pipeline.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("is on stage ", stage, " of a job without pipeline"));
    }
    if (stage < 0 || stage >= world.pipeline->num_stages()) {
      return absl::InvalidArgumentError(
          absl::StrCat("is on stage ", stage, "; the stages are 0..",
                       world.pipeline->num_stages() - 1));
    }
    const int rank = world.pipeline->RankOf(stage);
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

bool Cuts(const TorchTensor& tensor, int axis) {
  return std::any_of(
      tensor.cuts.begin(), tensor.cuts.end(), [&](const Cut& cut) {
        return std::find(cut.group.axes.begin(), cut.group.axes.end(), axis) !=
               cut.group.axes.end();
      });
}

// The lanes of one state, in the terms of the layout.
struct Lanes {
  std::vector<int> locating;  // axes that locate copies
  std::vector<int> inner;     // axes of the placement's lanes
  LaneTable table;            // over the former, then the latter
};

Lanes LanesOf(const Mesh& mesh, const TorchTensor& tensor,
              const TorchMemory& memory) {
  Lanes lanes;
  for (const int axis : AxesThatMatter(mesh, memory.table)) {
    const bool locates = memory.flat.has_value() && !Cuts(tensor, axis);
    (locates ? lanes.locating : lanes.inner).push_back(axis);
  }
  std::vector<int> axes = lanes.locating;
  axes.insert(axes.end(), lanes.inner.begin(), lanes.inner.end());
  lanes.table = OverAxes(mesh, memory.table, std::move(axes));
  return lanes;
}

// Adds a copy at `held.at` for each coordinate on the locating axes.
void AddCopies(const Mesh& mesh, const Lanes& lanes, int tensor, Held held,
               LayoutBuilder& builder) {
  const RankGroup locating(mesh, {lanes.locating});
  const int inner =
      static_cast<int>(lanes.table.lanes.size()) / locating.ranks();
  const auto at = held.at;
  for (int place = 0; place < locating.ranks(); ++place) {
    held.at = at;
    for (int axis : lanes.locating) {
      held.at.push_back(mesh.Coordinate(locating.RankOf(place), axis));
    }
    const auto first = lanes.table.lanes.begin() + place * inner;
    if (lanes.inner.empty()) {
      held.flat = first->flat;
      held.storage = first->storage;
    } else {
      held.lanes.assign(first, first + inner);
    }
    builder.AddCopy(tensor, held);
  }
}

}  // namespace

absl::Status AddTorchTensor(const TorchWorld& world, int mesh,
                            const TorchTensor& tensor, const TorchState& state,
                            const TorchMemory& memory, LayoutBuilder& builder) {
  const std::string what = absl::StrCat("tensor ", tensor.name);
  ASSIGN_OR_RETURN(
      TensorSpec spec,
      TensorSpec::Create(tensor.name, state.state, state.dtype, tensor.shape),
      what);
  ASSIGN_OR_RETURN(const std::vector<int> ranks, PipelineRanks(world, tensor),
                   what);
  const Lanes lanes = LanesOf(world.mesh, tensor, memory);
  Placement placement{.mesh = mesh,
                      .cuts = tensor.cuts,
                      .flat = memory.flat,
                      .lanes = lanes.inner};
  if (!ranks.empty()) placement.located_by = {world.pipeline->axis()};
  placement.located_by.insert(placement.located_by.end(),
                              lanes.locating.begin(), lanes.locating.end());
  Held held{.placement = builder.AddPlacement(std::move(placement))};
  const int index = builder.AddTensor(std::move(spec));
  if (ranks.empty()) AddCopies(world.mesh, lanes, index, held, builder);
  for (int rank : ranks) {
    held.at = {rank};
    AddCopies(world.mesh, lanes, index, held, builder);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RanksOnAxes(const Mesh& mesh,
                                    absl::Span<const int> axes) {
  int64_t ranks = 1;
  unsigned used = 0;  // a bit per axis
  for (int axis : axes) {
    if (axis < 0 || axis >= mesh.num_axes()) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is none of mesh ", mesh.DebugString()));
    }
    if ((used >> axis & 1) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis \"", mesh.axes()[axis].name,
                       "\" is there twice; name it once"));
    }
    used |= 1u << axis;
    ranks *= mesh.size(axis);
  }
  return ranks;
}

absl::StatusOr<Dtype> ParamDtype(const TorchTensor& tensor) {
  for (const TorchState& state : tensor.states) {
    if (state.state == "param") return state.dtype;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tensor ", tensor.name, " has no state \"param\""));
}

absl::Status CheckLaidTogether(const Mesh& mesh,
                               absl::Span<const TorchTensor> tensors,
                               absl::Span<const int> members,
                               absl::Span<const int> axes) {
  RETURN_IF_ERROR(RanksOnAxes(mesh, axes).status());
  if (members.empty()) return absl::InvalidArgumentError("has no tensors");
  const int count = static_cast<int>(tensors.size());
  for (int index : members) {
    if (index < 0 || index >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", index, " is not in 0..", count - 1));
    }
    const TorchTensor& first = tensors[members[0]];
    if (tensors[index].stages != first.stages) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensors ", first.name, " and ", tensors[index].name,
                       " are on different pipeline stages"));
    }
    for (int axis : axes) {
      if (!Cuts(tensors[index], axis)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", tensors[index].name, " is cut over axis \"",
          mesh.axes()[axis].name, "\", over which the run that it lies in is"));
    }
  }
  return absl::OkStatus();
}

}  // namespace dynatrain::vps
