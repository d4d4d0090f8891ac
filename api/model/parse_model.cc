#include "api/model/parse_model.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/json/reader.h"
#include "api/model/huggingface_config.h"
#include "api/model/plain_model.h"
#include "base/status_macros.h"
#include "vps/model/presets.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;

constexpr char kPath[] = "model";

// {"huggingface": path or config}.
absl::StatusOr<vps::ModelConfig> ReadHuggingFace(const Json& model,
                                                 ReadText read) {
  const std::string path = absl::StrCat(kPath, ".huggingface");
  if (model.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": stands alone, but ", model.size() - 1,
        " other fields are there; to change numbers use family or preset"));
  }
  const Json& config = model.at("huggingface");
  if (config.is_object()) return ReadHuggingFaceConfig(config, path);
  if (!config.is_string()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is neither the path of a config.json nor its content"));
  }
  const std::string file = config.get<std::string>();
  ASSIGN_OR_RETURN(const std::string text, read(file), path);
  ASSIGN_OR_RETURN(const Json content, ParseJson(text), file);
  return ReadHuggingFaceConfig(content, file);
}

}  // namespace

absl::StatusOr<vps::ModelConfig> ParseModel(const Json& model, ReadText read) {
  if (model.is_string()) {
    auto preset = vps::Preset(model.get<std::string>());
    if (!preset.ok()) return WithContext(std::move(preset).status(), kPath);
    return preset;
  }
  if (model.is_object() && model.contains("huggingface")) {
    return ReadHuggingFace(model, read);
  }
  return ReadPlainModel(model, kPath);
}

absl::StatusOr<vps::ModelConfig> ParseModel(const Json& model) {
  return ParseModel(
      model, [](absl::string_view path) -> absl::StatusOr<std::string> {
        return absl::InvalidArgumentError(absl::StrCat(
            "no file can be read here, so not \"",
            absl::CHexEscape(path.substr(0, 64)),
            "\" either; put the content of config.json in its place"));
      });
}

}  // namespace dynatrain::api
