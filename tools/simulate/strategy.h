// Strategy: a way to change a job's layout. Each is in a file of its own, which
// cites where its rule is from; what it moves is computed region by region on
// the job's own layouts, and all are charged by the same models.
#ifndef TOOLS_SIMULATE_STRATEGY_H_
#define TOOLS_SIMULATE_STRATEGY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/movement.h"
#include "tools/simulate/switch_case.h"

namespace dynatrain::simulate {

class Strategy {
 public:
  virtual ~Strategy() = default;

  // As the command line and tables call it.
  virtual absl::string_view name() const = 0;
  // Where its rule is from: repository, commit, files.
  virtual absl::string_view source() const = 0;
  // The jobs that it can run keep the whole optimizer state on every data
  // parallel rank (no distributed optimizer).
  virtual bool replicates_optimizer() const { return false; }
  // Goes by way of files, so that it survives what takes all ranks with it.
  virtual bool through_storage() const { return false; }

  virtual absl::StatusOr<Movement> Plan(const SwitchCase& change) const = 0;
};

// Ours first, then the baselines, in a fixed order.
std::vector<std::unique_ptr<Strategy>> AllStrategies();

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_STRATEGY_H_
