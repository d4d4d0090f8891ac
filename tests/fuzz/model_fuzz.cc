// Any text as a model: it is refused with a reason, or it is a model whose
// tensors are as many as its numbers say, and that is read again as it is
// written.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/json/reader.h"
#include "api/model/parse_model.h"
#include "api/model/plain_model.h"
#include "vps/model/model_size.h"
#include "vps/model/model_tensors.h"

namespace dynatrain {
namespace {

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

// Listing the tensors of the largest models takes a second each.
bool IsSmall(const vps::ModelConfig& config) {
  const int64_t experts =
      config->experts.has_value() ? config->experts->count : 0;
  return (config->layers + config->mtp_layers) * (experts + 1) < 1000;
}

void CheckModel(const vps::ModelConfig& config) {
  const auto again = api::ReadPlainModel(api::WritePlainModel(config), "model");
  Require(again.ok() && *again == config);
  const vps::ModelSize size = vps::SizeOf(config);
  Require(size.parameters() > 0);
  if (!IsSmall(config)) return;
  int64_t parameters = 0;
  for (const vps::ModelTensor& tensor : vps::TensorsOf(config)) {
    Require(tensor.num_elements() > 0);
    if (tensor.is_parameter()) parameters += tensor.num_elements();
  }
  Require(parameters == size.parameters());
}

}  // namespace
}  // namespace dynatrain

namespace api = dynatrain::api;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto json = api::ParseJson(text);
  if (!json.ok()) return 0;
  // The text is a model, a config.json, or both.
  const auto read = [&](absl::string_view) -> absl::StatusOr<std::string> {
    return text;
  };
  for (const nlohmann::json& form :
       {*json, nlohmann::json({{"huggingface", *json}}),
        nlohmann::json({{"huggingface", "config.json"}})}) {
    const auto config = api::ParseModel(form, read);
    if (config.ok()) {
      dynatrain::CheckModel(*config);
    } else {
      dynatrain::Require(!config.status().message().empty());
    }
  }
  return 0;
}
