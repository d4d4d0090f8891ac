// The conditions on ModelNumbers, in one place; see ModelConfig::Create.
#ifndef VPS_MODEL_MODEL_CONFIG_CHECKS_H_
#define VPS_MODEL_MODEL_CONFIG_CHECKS_H_

#include "absl/status/status.h"
#include "vps/model/model_config.h"

namespace dynatrain::vps {

// Fills in what has a default (query_groups, head_dim). Returns
// kInvalidArgument naming the field, its value and the nearest valid ones.
absl::Status CheckAndComplete(ModelNumbers& numbers);

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_MODEL_CONFIG_CHECKS_H_
