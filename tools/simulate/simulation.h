// Simulation: one strategy goes through a whole trace. The job trains; nodes
// come and go; the layout follows, and what each change costs is added up.
//
// When nodes come or will go, the new world is built beside training (init),
// then, at a step boundary, training stands still for the switch: drain,
// movement, commit. Every strategy is allowed the same overlap, or none
// (SimulationOptions::overlap). If nodes go:
//   - the switch begins at the first boundary once init is done, if all that
//     needs the old nodes is over before they go;
//   - else at the last boundary at or after the notice from which it still is,
//     and training stands still while init goes on;
//   - else they go in the middle of training: that step and all since the last
//     checkpoint are lost (with a distributed optimizer, a node takes state
//     with it that nobody else has); the job starts on what is left: detection,
//     init, loading from storage.
// Events that come while a change goes on wait until it is done; their notice
// runs on. Checkpoints are written beside training at each interval and cost
// nothing else. If what is left has no layout, the job saves, if there is time,
// and stands until nodes come. A change that would begin after the end does not
// happen, and a pause counts until then.
#ifndef TOOLS_SIMULATE_SIMULATION_H_
#define TOOLS_SIMULATE_SIMULATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "tools/simulate/costs.h"
#include "tools/simulate/job_cache.h"
#include "tools/simulate/sizing.h"
#include "tools/simulate/strategy.h"
#include "tools/simulate/trace.h"

namespace dynatrain::simulate {

struct SimulationOptions {
  SiteFigures site;
  // Build processes, communicators and buffers of a new world. Assumption.
  int64_t init_ns = 60'000'000'000;
  // Until a node that went without notice is missed. Assumption.
  int64_t detect_ns = 30'000'000'000;
  int64_t checkpoint_interval_ns = 1'800'000'000'000;
  // Whether a new world is built while the old one trains.
  bool overlap = true;
  // When the simulation ends; 0: an hour after the last event.
  int64_t end_ns = 0;

  friend bool operator==(const SimulationOptions&,
                         const SimulationOptions&) = default;
};

// kInvalidArgument naming the option, its value and its range.
absl::Status CheckOptions(const SimulationOptions& options);

enum class ChangeKind {
  kStart,    // the first layout, or after having stood without nodes
  kSwitch,   // from layout to layout
  kRecover,  // nodes went too early: from the last checkpoint
  kStop,     // no layout for what is left
};

// "start", "switch", "recover", "stop".
const char* ChangeKindName(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kStart;
  int64_t event_ns = 0;  // of the trace
  int64_t begin_ns = 0;  // training stands still from then on
  int64_t pause_ns = 0;
  int nodes_before = 0;
  int nodes_after = 0;
  std::string from;  // layouts; "" if none
  std::string to;
  int64_t waited_ns = 0;   // of the pause: for init, or detection and init
  SwitchTime time;         // the rest of it
  int64_t lost_steps = 0;  // to be done again

  int64_t end_ns() const { return begin_ns + pause_ns; }
};

struct RunResult {
  std::string strategy;
  std::vector<Change> changes;
  int64_t end_ns = 0;
  int64_t steps = 0;         // done and kept
  int64_t lost_steps = 0;    // done and lost
  int64_t paused_ns = 0;     // stood still because of changes, until the end
  int64_t down_ns = 0;       // without any layout
  int64_t moved_bytes = 0;   // over the network
  int64_t stored_bytes = 0;  // to and from storage, periodic checkpoints apart
  // Tokens that whoever changes layouts in no time would have trained.
  double ideal_tokens = 0;
  double tokens = 0;  // of `steps`

  // tokens / ideal_tokens; 1 if both are 0.
  double goodput() const {
    return ideal_tokens > 0 ? tokens / ideal_tokens : 1;
  }
};

// Called before each event: how many are done, of how many.
using Progress = absl::FunctionRef<void(int done, int total)>;

// Returns kInvalidArgument for an option out of range, and what a strategy
// returns. `sizer` and `jobs`, of the same job and cluster, serve all
// strategies.
absl::StatusOr<RunResult> Simulate(const Trace& trace, Sizer& sizer,
                                   JobCache& jobs, const Strategy& strategy,
                                   const SimulationOptions& options,
                                   Progress progress);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_SIMULATION_H_
