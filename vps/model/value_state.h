// State that is no tensor, as named values: it travels whole, never cut, and
// what a rank needs of it depends on the scope alone.
#ifndef VPS_MODEL_VALUE_STATE_H_
#define VPS_MODEL_VALUE_STATE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace dynatrain::vps {

enum class ValueScope : uint8_t {
  kJob,             // equal on every rank
  kParameterGroup,  // one per group of the optimizer, equal on its ranks
  kCoordinate,  // belongs to a mesh coordinate; a new one gets a fresh value
};

// "job", "parameter group", "coordinate".
absl::string_view ScopeName(ValueScope scope);

struct ValueState {
  std::string name;
  ValueScope scope = ValueScope::kJob;

  friend bool operator==(const ValueState&, const ValueState&) = default;
};

struct ValueOptions {
  bool loss_scaler = false;  // float16 training
  // Streams of random numbers, each with its own state on a coordinate.
  std::vector<std::string> rng_streams = {"default"};
};

// "optimizer.step", "scheduler", "cursor" (samples of committed steps),
// "rng.{stream}" and, if there is one, "loss_scaler".
std::vector<ValueState> ValueStates(const ValueOptions& options);

inline std::ostream& operator<<(std::ostream& out, const ValueState& value) {
  return out << value.name << " (" << ScopeName(value.scope) << ")";
}

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_VALUE_STATE_H_
