// Public models by name. Their parameter counts (presets_test.cc) equal the
// published totals.
//
// deepseek-v3: the published 671,026,419,200 are 671,026,404,352 parameters and
// the 14,848 elements of expert_bias (58 layers of 256 experts), which Megatron
// keeps as a buffer; beside them stands one multi-token prediction layer of
// 11,610,067,968 parameters and a bias of 256.
//
// gpt3-1.3b and gpt3-13b are as Megatron trains them (16 heads; hidden 5120);
// the paper prints 24 heads and 5140.
#ifndef VPS_MODEL_PRESETS_H_
#define VPS_MODEL_PRESETS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vps/model/model_config.h"

namespace dynatrain::vps {

// "gpt3-1.3b", "gpt3-2.7b", ..., "deepseek-v3", smallest first by family.
std::vector<absl::string_view> PresetNames();

// Returns kInvalidArgument with the names that exist if `name` is none of them.
absl::StatusOr<ModelConfig> Preset(absl::string_view name);

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_PRESETS_H_
