// Pause: how long training stands still, as a sum of named parts, each with the
// arithmetic that gives it.
//
//   drain     ranks reach the step boundary one after the other
//   copy      what a rank keeps at another place, on the busiest rank
//   transfer  what moves, by the cost model
//   gather    weights that are made anew, on the rank that gathers most
//   verify    a digest over all that a rank sent and received, the busiest one
//   commit    the durable write, and what follows until the first new step
//
// Everything before (allocation, connections, warming) overlaps training.
#ifndef TRANSITION_PREVIEW_PAUSE_H_
#define TRANSITION_PREVIEW_PAUSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "transition/schedule/cost.h"

namespace dynatrain::transition {

// Inputs of the arithmetic that no plan knows. They are of a job on a cluster;
// none is measured here.
struct PauseFigures {
  // From the first rank at the boundary to the last, and the word to go.
  // Default: what a step's ranks differ by, an assumption.
  int64_t drain_ns = 20'000'000;
  // Of one rank's memory: bytes copied (read and written) per second. Default:
  // a quarter of an A800's 2 TB/s, which strided rows reach.
  int64_t copy_bytes_per_second = 500'000'000'000;
  // Bytes digested per second. Default: half of its memory bandwidth.
  int64_t verify_bytes_per_second = 1'000'000'000'000;
  // Default: the longest of `make demo` on its small machine, docs/benchmarks.
  int64_t commit_ns = 40'000'000;

  friend bool operator==(const PauseFigures&, const PauseFigures&) = default;
};

// kInvalidArgument naming the field, its value and its range.
absl::Status CheckPauseFigures(const PauseFigures& figures);

// What the parts are worked out from.
struct PauseWork {
  int64_t copied_bytes = 0;    // of the rank that copies most
  int64_t verified_bytes = 0;  // of the rank that sends and receives most
  int64_t transfer_ns = 0;
  // Of the rank that gathers most, and what it gathers them at: a ring in which
  // each rank has a port to itself. No part of the pause without bytes.
  int64_t gathered_bytes = 0;
  int64_t gather_bytes_per_second = 0;
};

// The parts in the order above; their sum is the pause. REQUIRES: valid
// figures.
Cost PauseOf(const PauseWork& work, const PauseFigures& figures);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_PAUSE_H_
