#include "vps/layout/torch/torch_tensor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
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
  Placement placement{.mesh = mesh, .cuts = tensor.cuts, .flat = memory.flat};
  if (!ranks.empty()) placement.located_by = {world.pipeline->axis()};
  Held held{.placement = builder.AddPlacement(std::move(placement)),
            .flat = memory.position,
            .storage = memory.storage};
  const int index = builder.AddTensor(std::move(spec));
  if (ranks.empty()) builder.AddCopy(index, held);
  for (int rank : ranks) {
    held.at = {rank};
    builder.AddCopy(index, held);
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

absl::Status CheckLaidTogether(absl::Span<const TorchTensor> tensors,
                               absl::Span<const int> members) {
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
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> EvenLocalElements(const TorchWorld& world,
                                          const TorchTensor& tensor) {
  std::vector<int64_t> shape = tensor.shape;
  for (const Cut& cut : tensor.cuts) {
    ASSIGN_OR_RETURN(const int64_t pieces,
                     RanksOnAxes(world.mesh, cut.group.axes),
                     absl::StrCat("tensor ", tensor.name));
    if (cut.dim < 0 || cut.dim >= static_cast<int>(shape.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", tensor.name, ": a cut is of dim ", cut.dim,
                       " of ", shape.size()));
    }
    if (pieces == 1) continue;
    int64_t& extent = shape[cut.dim];
    if (extent % (pieces * cut.num_blocks) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", tensor.name, ": dim ", cut.dim, " of extent ", extent,
          " is cut into ", pieces, " uneven pieces",
          cut.num_blocks > 1 ? absl::StrCat(" in ", cut.num_blocks, " blocks")
                             : "",
          ", so ranks would flatten local tensors of different sizes; a "
          "listing of the job (docs/space.md) is a layout"));
    }
    extent /= pieces;
  }
  const std::optional<int64_t> elements = CheckedVolume(shape);
  if (!elements.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", tensor.name,
                     ": its number of elements does not fit 63 bits"));
  }
  return *elements;
}

}  // namespace dynatrain::vps
