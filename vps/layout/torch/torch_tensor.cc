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

absl::StatusOr<int64_t> EvenLocalElements(const TorchWorld& world,
                                          const TorchTensor& tensor) {
  std::vector<int64_t> shape = tensor.shape;
  for (const Cut& cut : tensor.cuts) {
    int64_t pieces = 1;
    for (int axis : cut.group.axes) pieces *= world.mesh.size(axis);
    if (pieces == 1) continue;
    int64_t& extent = shape[cut.dim];
    if (extent % (pieces * cut.num_blocks) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", tensor.name, ": dim ", cut.dim, " of extent ", extent,
          " is cut into ", pieces, " uneven pieces",
          cut.num_blocks > 1 ? absl::StrCat(" in ", cut.num_blocks, " blocks")
                             : "",
          ", so ranks would flatten local tensors of different sizes"));
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
