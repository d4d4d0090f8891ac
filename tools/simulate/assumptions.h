// Assumptions: the figures of a simulation that neither cluster nor model
// gives, by name, so that they can be set on a command line and are printed
// with every result.
#ifndef TOOLS_SIMULATE_ASSUMPTIONS_H_
#define TOOLS_SIMULATE_ASSUMPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/simulation.h"
#include "tools/simulate/step_time.h"

namespace dynatrain::simulate {

struct Assumptions {
  SimulationOptions simulation;
  StepFigures step;

  friend bool operator==(const Assumptions&, const Assumptions&) = default;
};

// Sets "name=value,name=value". Returns kInvalidArgument naming the entry, with
// what was probably meant, if there is no such name, one comes twice or a value
// is no number or out of range; then nothing is set.
absl::Status Assume(absl::string_view text, Assumptions& assumptions);

struct Assumption {
  std::string name;  // "init_s": its unit ends it
  double value = 0;
  std::string about;  // for people
};

// All of them, in a fixed order.
std::vector<Assumption> Listed(const Assumptions& assumptions);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_ASSUMPTIONS_H_
