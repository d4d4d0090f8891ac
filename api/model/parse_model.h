// ParseModel: which model a layout file or a job means.
//
//   "llama2-70b"                                     a preset, by name
//   {"family": "llama", "hidden": 64, "layers": 2, "heads": 4, "ffn": 128,
//    "vocabulary": 256}                              numbers (plain_model.h)
//   {"huggingface": "path/to/config.json"}           a public model's config
//   {"huggingface": {"model_type": "llama", ...}}    the same, in place
//                                                    (huggingface_config.h)
#ifndef API_MODEL_PARSE_MODEL_H_
#define API_MODEL_PARSE_MODEL_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "vps/model/model_config.h"

namespace dynatrain::api {

// Gives the text of the file at `path`, as the model names it.
using ReadText =
    absl::FunctionRef<absl::StatusOr<std::string>(absl::string_view path)>;

// Returns kInvalidArgument naming the field ("model.hidden"), its value and
// what would be right; or what `read` returns.
absl::StatusOr<vps::ModelConfig> ParseModel(const nlohmann::json& model,
                                            ReadText read);

// The same where no file can be read: {"huggingface": "path"} is refused.
absl::StatusOr<vps::ModelConfig> ParseModel(const nlohmann::json& model);

}  // namespace dynatrain::api

#endif  // API_MODEL_PARSE_MODEL_H_
