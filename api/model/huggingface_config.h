// The config.json of a public model, as Hugging Face's transformers write it.
//
// Every field that changes the tensors is read or refused by name. What is not
// known is refused too unless it is null, false or a text, or is known to
// change nothing (token ids, dropout, rope, ...): a number that we do not
// understand may be the size of a tensor that we would leave out.
#ifndef API_MODEL_HUGGINGFACE_CONFIG_H_
#define API_MODEL_HUGGINGFACE_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "vps/model/model_config.h"

namespace dynatrain::api {

// The values of model_type that can be read: deepseek_v3, gpt2, llama, mistral,
// mixtral, nemotron_h, qwen2, qwen3, qwen3_moe.
// Returns kInvalidArgument naming the field (below `path`), its value and what
// would be right.
absl::StatusOr<vps::ModelConfig> ReadHuggingFaceConfig(
    const nlohmann::json& config, const std::string& path);

}  // namespace dynatrain::api

#endif  // API_MODEL_HUGGINGFACE_CONFIG_H_
