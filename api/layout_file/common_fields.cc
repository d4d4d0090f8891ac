#include "api/layout_file/common_fields.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::api {

using Json = nlohmann::json;

absl::StatusOr<vps::StateList> ReadStates(const ObjectReader& root) {
  const Json& states = root.At("states");
  if (states.is_null()) {
    return absl::InvalidArgumentError(
        "states is missing: a preset like bf16-mixed, or a list like "
        "[param:bfloat16, main:float32]");
  }
  if (states.is_string()) {
    return vps::StateList::Preset(states.get<std::string>());
  }
  std::vector<std::string> texts;
  for (const Json& state : states) {
    if (!states.is_array() || !state.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat("states: ", DumpJson(states).substr(0, 60),
                       " is neither a preset nor a list of texts"));
    }
    texts.push_back(state.get<std::string>());
  }
  return vps::StateList::Parse(texts);
}

std::string ModelName(const Json& model) {
  if (model.is_string()) return model.get<std::string>();
  for (const char* key : {"preset", "family", "huggingface"}) {
    const auto it = model.find(key);
    if (it != model.end() && it->is_string()) return it->get<std::string>();
  }
  return "";
}

}  // namespace dynatrain::api
