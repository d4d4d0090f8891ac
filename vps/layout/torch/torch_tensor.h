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
#include "vps/layout/torch/lane_table.h"
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
  LaneTable table;
};

// Adds `state` of `tensor` to the layout, a copy for each place that has it,
// and for each lane of an axis that does not cut it, if it is flattened: ranks
// along such an axis have equal local tensors and other pieces of them.
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

// OK if `members`, indices of `tensors`, can be laid into one run that is cut
// over `axes`: there is one, all are tensors, all are on the same pipeline
// stages, and none is cut over those axes. Otherwise kInvalidArgument naming
// the tensors.
absl::Status CheckLaidTogether(const Mesh& mesh,
                               absl::Span<const TorchTensor> tensors,
                               absl::Span<const int> members,
                               absl::Span<const int> axes);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_TORCH_TENSOR_H_
