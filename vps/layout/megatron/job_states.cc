#include "vps/layout/megatron/job_states.h"

#include "absl/strings/str_cat.h"
#include "vps/model/state_class.h"

namespace dynatrain::vps::megatron {
namespace {

Dtype InMemory(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat8E4m3fn:
    case Dtype::kFloat8E4m3fnuz:
    case Dtype::kFloat8E5m2:
    case Dtype::kFloat8E5m2fnuz:
      return Dtype::kUint8;
    default:
      return dtype;
  }
}

}  // namespace

absl::Status CheckStates(const StateList& states,
                         const MegatronConfig& config) {
  bool is_wide = true;
  for (const StateClass& state : states.states()) {
    if (state.name == "param" && state.dtype != Dtype::kFloat32) {
      is_wide = false;
    }
  }
  for (const StateClass& state : states.states()) {
    if (state.name == "main" && is_wide) {
      return absl::InvalidArgumentError(
          "states: main is given, but param is float32: Megatron keeps no "
          "second float32 copy of such parameters; leave main out");
    }
    const bool is_of_adam = state.name == "main" || state.name == "exp_avg" ||
                            state.name == "exp_avg_sq";
    if (is_of_adam && state.dtype != Dtype::kFloat32 &&
        !config->precision_aware_optimizer) {
      return absl::InvalidArgumentError(absl::StrCat(
          "states: ", StateText(state), " needs precision_aware_optimizer; ",
          "without it, ", state.name, " is float32"));
    }
  }
  return absl::OkStatus();
}

Dtype BufferDtype(const ModelTensor& tensor, const StateList& states) {
  for (const StateClass& state : states.states()) {
    if (state.name == "param" && HasState(tensor, state)) {
      return InMemory(state.dtype);
    }
  }
  return Dtype::kFloat32;
}

}  // namespace dynatrain::vps::megatron
