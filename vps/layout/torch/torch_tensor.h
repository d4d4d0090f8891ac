// TorchTensor: one parameter or buffer of a PyTorch job with all of its states,
// and what DTensor, FSDP and pipelining do to it before anything is flattened.
// For the mappings of PyTorch and of what is built on it.
#ifndef VPS_LAYOUT_TORCH_TORCH_TENSOR_H_
#define VPS_LAYOUT_TORCH_TORCH_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"
#include "vps/layout/torch/pipeline_stages.h"
#include "vps/model/dtype.h"

namespace dynatrain::vps {

// The ranks of a job.
struct TorchWorld {
  Mesh mesh;
  std::optional<PipelineStages> pipeline;
};

struct TorchState {
  std::string state = "param";
  Dtype dtype = Dtype::kFloat32;
  friend bool operator==(const TorchState&, const TorchState&) = default;
};

struct TorchTensor {
  std::string name;  // fully qualified, of the whole model
  std::vector<int64_t> shape;
  std::vector<TorchState> states;  // each of this shape
  std::vector<Cut> cuts;           // CutsOfPlacements, CutsOfSplits
  // The pipeline stages that have it, the authoritative one first; none: it is
  // on all ranks of the pipeline. Stages of one rank share one copy.
  std::vector<int> stages;
};

// Where the elements that the cuts leave lie: by default in a tensor of their
// own, as they are.
struct TorchMemory {
  std::optional<Flat> flat;
  FlatPosition position;  // if flat
  Storage storage;
};

// Adds `state` of `tensor` to the layout, a copy for each place that has it.
// Returns kInvalidArgument naming the tensor and the field if TensorSpec
// refuses it, a stage isn't one of the pipeline's, or there is no pipeline.
// REQUIRES: `mesh` is the builder's index of world.mesh.
absl::Status AddTorchTensor(const TorchWorld& world, int mesh,
                            const TorchTensor& tensor, const TorchState& state,
                            const TorchMemory& memory, LayoutBuilder& builder);

// The ranks that differ on `axes` alone. Returns kInvalidArgument naming the
// axis if one is none of the mesh, or is there twice.
absl::StatusOr<int64_t> RanksOnAxes(const Mesh& mesh,
                                    absl::Span<const int> axes);

// The dtype of the state "param". Returns kInvalidArgument naming the tensor if
// it has no such state.
absl::StatusOr<Dtype> ParamDtype(const TorchTensor& tensor);

// OK if `members`, indices of `tensors`, can be laid into one run: there is
// one, all are tensors, and all are on the same pipeline stages. Otherwise
// kInvalidArgument naming the tensors.
absl::Status CheckLaidTogether(absl::Span<const TorchTensor> tensors,
                               absl::Span<const int> members);

// The elements of the local tensor, which have to be as many on all ranks, so
// that what is laid behind it begins at the same place everywhere. Returns
// kInvalidArgument naming the tensor and the dim if a cut is uneven, or is of a
// dim or over axes that are not there.
absl::StatusOr<int64_t> EvenLocalElements(const TorchWorld& world,
                                          const TorchTensor& tensor);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_TORCH_TENSOR_H_
