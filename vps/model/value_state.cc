#include "vps/model/value_state.h"

#include "absl/strings/str_cat.h"

namespace dynatrain::vps {

absl::string_view ScopeName(ValueScope scope) {
  switch (scope) {
    case ValueScope::kJob:
      return "job";
    case ValueScope::kParameterGroup:
      return "parameter group";
    case ValueScope::kCoordinate:
      return "coordinate";
  }
  return "";
}

std::vector<ValueState> ValueStates(const ValueOptions& options) {
  std::vector<ValueState> values = {
      {"optimizer.step", ValueScope::kParameterGroup},
      {"scheduler", ValueScope::kJob},
      {"cursor", ValueScope::kJob},
  };
  for (const std::string& stream : options.rng_streams) {
    values.push_back({absl::StrCat("rng.", stream), ValueScope::kCoordinate});
  }
  if (options.loss_scaler) values.push_back({"loss_scaler", ValueScope::kJob});
  return values;
}

}  // namespace dynatrain::vps
