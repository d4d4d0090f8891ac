// Which fields of a config.json change no tensor.
#ifndef API_MODEL_HUGGINGFACE_HARMLESS_H_
#define API_MODEL_HUGGINGFACE_HARMLESS_H_

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

// True for false and texts, and for the keys that every supported model_type
// may have without a tensor depending on them.
bool IsHarmless(absl::string_view key, const nlohmann::json& value);

}  // namespace dynatrain::api

#endif  // API_MODEL_HUGGINGFACE_HARMLESS_H_
