// The PyTorch mapping: jobs of DTensors (tensor parallelism, FSDP2, HSDP, DDP),
// of FSDP1 flat parameters and of pipeline stages, as a Layout.
//
//   TorchJob job{.world = {.mesh = *Mesh::Create({{"dp", 2}, {"tp", 2}})}};
//   job.tensors.push_back({.name = "weight", .shape = {8, 4}, .states = {{}},
//                          .cuts = *CutsOfSplits(job.world.mesh, 2,
//                                                {{"tp", 0}, {"dp", 0}})});
//   ASSIGN_OR_RETURN(BufferedLayout made, TorchLayout(job));
//   made.layout.ForEachRegion(rank, ...);
//
// Proven against PyTorch itself: tests/oracle_torch.
#ifndef VPS_LAYOUT_TORCH_TORCH_LAYOUT_H_
#define VPS_LAYOUT_TORCH_TORCH_LAYOUT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vps/layout/torch/buffered_layout.h"
#include "vps/layout/torch/torch_tensor.h"
#include "vps/model/dtype.h"

namespace dynatrain::vps {

// An FSDP1 wrap unit: its parameters as one FlatParameter.
struct FlatParameter {
  std::string name;  // of the wrapped module; "" for the root
  // Indices of TorchJob::tensors, in the order of the unit's named_modules()
  // and their parameters; a shared parameter once, where it comes first.
  std::vector<int> tensors;
  // The mesh axes of the sharding process group, slowest first; none for
  // NO_SHARD. HYBRID_SHARD replicates over the axes that are not named.
  std::vector<int> axes;
  bool use_orig_params = false;
  std::optional<Dtype> compute_dtype;  // MixedPrecision.param_dtype
};

struct TorchJob {
  TorchWorld world;
  std::vector<TorchTensor> tensors;
  std::vector<FlatParameter> flat_parameters;
};

// Tensors in the order of the job, each with its states in order. Memory: a
// tensor is its own, row-major; of a flat parameter, "param" and "grad" are in
// the buffers "NAME/param" and "NAME/grad" (a rank's shard each), and other
// states are, if use_orig_params is set, a tensor of a rank's part, else in the
// buffer "NAME/STATE" as well, since the optimizer then knows the flat
// parameter only.
//
// Returns kInvalidArgument naming the tensor or flat parameter and the field:
// as AddTorchTensor, JobLanes::Create and LayoutBuilder::Build do, or if the
// parameters of a flat parameter have no "param" state, have different dtypes
// or stages, or belong to another one too, as FSDP1 refuses.
absl::StatusOr<BufferedLayout> TorchLayout(const TorchJob& job);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_TORCH_LAYOUT_H_
