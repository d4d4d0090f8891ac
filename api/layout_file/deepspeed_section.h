// The section `deepspeed` of a layout file: the fields of torch_fields.h and
//
//   stage: 2                      # zero_optimization.stage: 1, 2 or 3
//   round_robin_gradients: false  # these as in DeepSpeed's configuration
//   parameter_alignment: false
//   sub_group_size: 1000000000
//   groups:                       # the optimizer's param_groups, in order
//     - {axes: [dp], tensors: [layers.0.weight, layers.0.bias]}
//   frozen_axes: [dp]             # stage 3: of parameters that are in no group
//
// `axes` are those of the process group that partitions the group (default:
// dp); without `groups` there is one, of all tensors with a state "param".
// Tensors are named in the order of the group.
#ifndef API_LAYOUT_FILE_DEEPSPEED_SECTION_H_
#define API_LAYOUT_FILE_DEEPSPEED_SECTION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/layout_file/torch_fields.h"
#include "nlohmann/json.hpp"
#include "vps/layout/deepspeed/deepspeed_layout.h"

namespace dynatrain::api {

// Returns kInvalidArgument naming the field by its path below `path`, the value
// and what would be right.
absl::StatusOr<vps::DeepSpeedJob> ReadDeepSpeedSection(
    const nlohmann::json& section, absl::string_view path,
    const TorchDefaults& defaults);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_DEEPSPEED_SECTION_H_
