// Layout files of PyTorch and of DeepSpeed jobs:
//
//   framework: torch              # or deepspeed
//   version: "2.15.0"
//   world: 8                      # optional: checked against the mesh
//   parallelism: {dp: 4, tp: 2}   # the package dynatrain's mesh; or torch.mesh
//   states: [param:float32, exp_avg:float32, exp_avg_sq:float32]
//   torch: {...}                  # torch_section.h; or deepspeed_section.h
#ifndef API_LAYOUT_FILE_LOAD_TORCH_H_
#define API_LAYOUT_FILE_LOAD_TORCH_H_

#include "absl/status/statusor.h"
#include "api/json/reader.h"
#include "api/layout_file/loaded_layout.h"

namespace dynatrain::api {

// `root` is the whole file. Each returns kInvalidArgument naming the field by
// its path, its value and what would do, or the tensor that the layout refuses.
absl::StatusOr<LoadedLayout> LoadTorch(ObjectReader root);
absl::StatusOr<LoadedLayout> LoadDeepSpeed(ObjectReader root);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_LOAD_TORCH_H_
