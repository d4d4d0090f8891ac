// The fields that layout files of PyTorch and DeepSpeed jobs share: the mesh,
// the pipeline and the tensors.
//
//   mesh: pp2,dp2,tp2             # as in init_device_mesh, slowest first;
//                                 # default: from `parallelism`
//   pipeline: {axis: pp, stages: 4, style: loop}  # or v, or ranks: [0, 1, 1,
//   0] tensors:
//     - {name: w, shape: [8, 4], placements: [R, "_S(0, 2)", "S(0)"], stage: 1}
//     - {name: v, shape: [8], splits: [{axis: tp, dim: 0}, {axis: dp, dim: 0}]}
//     - {name: count, shape: [], states: ["buffer:int64"]}
//
// `placements` are DTensor's, one per axis of the mesh as torch prints them;
// `splits` are applied in their order, which is what FSDP2 does after tensor
// parallelism; with neither a tensor is replicated. `stage` (or `stages`, the
// first the authoritative one) is for tensors that not all ranks of the
// pipeline have. `states` default to those of the file; `state` and `dtype` in
// their place, as in a manifest, say one.
#ifndef API_LAYOUT_FILE_TORCH_FIELDS_H_
#define API_LAYOUT_FILE_TORCH_FIELDS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/json/reader.h"
#include "vps/layout/mesh.h"
#include "vps/layout/torch/torch_tensor.h"

namespace dynatrain::api {

// What the rest of the file says.
struct TorchDefaults {
  std::optional<vps::Mesh> mesh;        // of `parallelism`
  std::vector<vps::TorchState> states;  // none: param:float32
};

// Each returns kInvalidArgument naming the field by its path, the value and
// what would be right.
absl::StatusOr<vps::TorchWorld> ReadTorchWorld(const ObjectReader& section,
                                               const TorchDefaults& defaults);
absl::StatusOr<std::vector<vps::TorchTensor>> ReadTorchTensors(
    const ObjectReader& section, const vps::TorchWorld& world,
    const TorchDefaults& defaults);
// The indices of the axes that `key` of `object` lists; `otherwise` if absent.
absl::StatusOr<std::vector<int>> ReadAxes(const ObjectReader& object,
                                          absl::string_view key,
                                          const vps::Mesh& mesh,
                                          std::vector<int> otherwise);
// The indices of the tensors whose names `key` of `object` lists.
absl::StatusOr<std::vector<int>> ReadTensorNames(
    const ObjectReader& object, absl::string_view key,
    absl::Span<const vps::TorchTensor> tensors);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_TORCH_FIELDS_H_
