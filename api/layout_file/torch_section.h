// The section `torch` of a layout file: the fields of torch_fields.h and
//
//   flat_parameters:              # FSDP1, one for each wrapped module
//     - {name: layers.0, axes: [dp], use_orig_params: true,
//        compute_dtype: bfloat16, tensors: [layers.0.weight, layers.0.bias]}
//
// `axes` are those of the sharding process group (none for NO_SHARD; default:
// dp), `compute_dtype` is MixedPrecision's param_dtype, `tensors` are named in
// the order of the module's named_parameters().
#ifndef API_LAYOUT_FILE_TORCH_SECTION_H_
#define API_LAYOUT_FILE_TORCH_SECTION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/layout_file/torch_fields.h"
#include "nlohmann/json.hpp"
#include "vps/layout/torch/torch_layout.h"

namespace dynatrain::api {

// Returns kInvalidArgument naming the field by its path below `path`, the value
// and what would be right.
absl::StatusOr<vps::TorchJob> ReadTorchSection(const nlohmann::json& section,
                                               absl::string_view path,
                                               const TorchDefaults& defaults);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_TORCH_SECTION_H_
