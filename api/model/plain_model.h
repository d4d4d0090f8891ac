// A model as plain numbers, the fields of vps::ModelNumbers by their names:
//
//   {"family": "llama", "hidden": 64, "layers": 2, "heads": 4,
//    "query_groups": 2, "ffn": 128, "vocabulary": 256}
//   {"family": "deepseek-v3", ..., "experts": {"count": 8, "ffn": 64},
//    "latent": {"kv_rank": 16, ...}}
//   {"preset": "llama2-70b", "layers": 4}
//
// The family (vps/model/families.h) gives the features, a preset all numbers;
// what else is written replaces theirs.
#ifndef API_MODEL_PLAIN_MODEL_H_
#define API_MODEL_PLAIN_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "vps/model/model_config.h"

namespace dynatrain::api {

// Returns kInvalidArgument naming the field (below `path`), its value and what
// would be right: neither family nor preset or both, an unknown or ill-typed
// field, or what ModelConfig::Create refuses.
absl::StatusOr<vps::ModelConfig> ReadPlainModel(const nlohmann::json& model,
                                                const std::string& path);

// All numbers, with a family that has the same features or overridden ones:
// ReadPlainModel gives the same config.
nlohmann::json WritePlainModel(const vps::ModelConfig& config);

}  // namespace dynatrain::api

#endif  // API_MODEL_PLAIN_MODEL_H_
