// PlannedBytes: what becomes of every byte of a plan, over the whole world: by
// state, by process and from process to process. For people and bounds; a
// process that carries a plan out never needs it.
#ifndef TRANSITION_PREVIEW_PLANNED_BYTES_H_
#define TRANSITION_PREVIEW_PLANNED_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "transition/plan/plan_input.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

// Of what target ranks are to hold. Every byte of it is kept, moved, zero or
// made anew, so target_bytes is the sum of these four.
struct ByteSums {
  int64_t source_bytes = 0;   // held before, over all ranks, with replicas
  int64_t target_bytes = 0;   // held after
  int64_t kept_bytes = 0;     // stays in its process, adopted or copied there
  int64_t adopted_bytes = 0;  // of those, where it lies, without a copy
  int64_t moved_bytes = 0;    // goes from one process to another
  // Lower bound of moved_bytes: needed, not held before and not zero. What is
  // above it went twice.
  int64_t minimal_bytes = 0;
  int64_t zero_bytes = 0;  // padding that only the target has
  // Weights that are cast from their masters, if the input says so
  // (regenerate.h), and what the ranks then gather for it: no flow has it.
  int64_t regenerated_bytes = 0;
  int64_t gathered_bytes = 0;

  int64_t copied_bytes() const { return kept_bytes - adopted_bytes; }

  ByteSums& operator+=(const ByteSums& other);
  friend bool operator==(const ByteSums&, const ByteSums&) = default;
};

struct StateBytes {
  std::string state;        // "param", "main", ...
  int64_t whole_bytes = 0;  // of its tensors, each counted once
  ByteSums sums;
  friend bool operator==(const StateBytes&, const StateBytes&) = default;
};

struct ProcessBytes {
  ByteSums sums;  // of what it is to hold; moved_bytes is what it receives
  int64_t sent_bytes = 0;
  friend bool operator==(const ProcessBytes&, const ProcessBytes&) = default;
};

struct PlannedBytes {
  // In the order of the tensors.
  std::vector<StateBytes> states;
  ByteSums total;
  // By union index (PlanInput::num_processes).
  std::vector<ProcessBytes> processes;
  // What moves, ranks being union indices, ascending.
  std::vector<Flow> flows;
};

// From the routes that every target rank takes, worked out per kind of tensor:
// O(target ranks x (tensors with several senders + kinds)).
// REQUIRES: the source world is not empty.
PlannedBytes ComputePlannedBytes(const PlanInput& input);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_PLANNED_BYTES_H_
