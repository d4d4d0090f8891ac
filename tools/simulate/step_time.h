// StepTime: how long a training step takes in a layout, from a few stated
// figures. It decides which layout a number of nodes runs and what a pause
// costs in tokens; it is no forecast of a real job. Per step of B tokens,
// S per sequence, of a model with N parameters that a token passes:
//
//   compute  6 N B' / (ranks x flops x efficiency); B' = B rounded up so that
//            each replica has as many microbatches (Narayanan et al. 2021, eq 3
//            without attention and recomputation)
//   bubble   compute x (pp - 1) / m, m microbatches of a replica (ibid. 2.2.1)
//   tensor   4 all-reduces per layer and microbatch of S h 2 bytes over tp, in
//            rings (ibid. 3.2), while m + pp - 1 microbatches pass
//   expert   4 all-to-alls per layer with experts of S h 2 k / tp bytes, k
//            experts per token, over ep
//   data     reduce-scatter of float32 gradients and all-gather of bfloat16
//            weights over dp, less what overlaps backward
//
// Rings inside a node take its inside bandwidth, others a rank's share of NICs.
#ifndef TOOLS_SIMULATE_STEP_TIME_H_
#define TOOLS_SIMULATE_STEP_TIME_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "tools/simulate/shape.h"
#include "transition/schedule/cluster_model.h"
#include "vps/model/model_config.h"

namespace dynatrain::simulate {

struct StepFigures {
  int64_t batch_tokens = 4'194'304;
  int64_t sequence_tokens = 4'096;  // a microbatch is one sequence
  // Of one rank. Defaults: bfloat16 peak of an A800, and what of it large
  // matrix products reach.
  double flops_per_second = 312e12;
  double efficiency = 0.5;
  // Experts that a token passes, of models that have any.
  int64_t experts_per_token = 8;
  double data_overlap = 0.5;  // in [0, 1]
  // Activations, workspace, communicators.
  int64_t reserved_bytes = int64_t{16} << 30;

  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};

// kInvalidArgument naming the figure, its value and its range.
absl::Status CheckStepFigures(const StepFigures& figures);

// Each at most 1e18.
struct StepTime {
  int64_t compute_ns = 0;
  int64_t bubble_ns = 0;
  int64_t tensor_ns = 0;
  int64_t expert_ns = 0;
  int64_t data_ns = 0;

  // At least 1: steps are counted by dividing by it.
  int64_t ns() const {
    return std::max<int64_t>(
        1, compute_ns + bubble_ns + tensor_ns + expert_ns + data_ns);
  }
};

// REQUIRES: shape.DataParallel(ranks) > 0, valid figures.
StepTime StepTimeOf(const vps::ModelConfig& model, const Shape& shape,
                    int ranks, const transition::ClusterModel& cluster,
                    const StepFigures& figures);

// Weights, gradients (float32) and optimizer state, which is distributed, of
// the fullest rank, as if stages were equal, and the reserve. `optimizer_bytes`
// are those of all optimizer states of one element. REQUIRES: as above.
int64_t MemoryOf(const vps::ModelConfig& model, const Shape& shape, int ranks,
                 int64_t optimizer_bytes, const StepFigures& figures);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_STEP_TIME_H_
