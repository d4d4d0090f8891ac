// How ZeRO lays the parameters of an optimizer group end to end and cuts them:
// the arithmetic of DeepSpeed 0.19.8, in elements.
//
// Stages 1 and 2 (runtime/zero/stage_1_and_2.py; runtime/bf16_optimizer.py does
// the same): a group is one run of all its parameters, perhaps in round-robin
// order, padded at the end to a multiple of 2 x ranks, and each rank optimizes
// one part of it. Stage 3 (partition_parameters.py, stage3.py): each parameter
// is a run of its own, cut into ceil(elements / ranks); a rank's shards of the
// parameters of a sub-group lie end to end in one flat tensor that is optimized
// at once.
#ifndef VPS_LAYOUT_DEEPSPEED_ZERO_PARTITION_H_
#define VPS_LAYOUT_DEEPSPEED_ZERO_PARTITION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/layout/torch/flat_run.h"

namespace dynatrain::vps {

// nccl_start_alignment_factor: a rank's part begins at a multiple of this.
inline constexpr int64_t kZeroAlignment = 2;
// With zero_optimization.parameter_alignment, each parameter begins at a
// multiple of this.
inline constexpr int64_t kZeroParameterAlignmentBytes = 16;
// zero_optimization.sub_group_size, if it isn't given.
inline constexpr int64_t kDefaultSubGroupSize = 1'000'000'000;

// The order in which round_robin_gradients lays `count` parameters for `ranks`:
// the indices 0, ranks, 2 ranks, ..., then 1, ranks + 1, ...
// (_round_robin_reorder)
//   5 parameters, 2 ranks: 0 2 4 1 3
std::vector<int> RoundRobinOrder(int count, int ranks);

// Stages 1 and 2. `elements` of the parameters, in the order in which they lie;
// `parameter_alignment` in elements, 1 for none: each but the last is padded to
// a multiple of it.
//   {7, 4}, alignment 1, 2 ranks: positions 0, 7; 12 elements; 6 per rank
// Returns as LayEndToEnd. REQUIRES: elements >= 0, parameter_alignment and
// ranks >= 1.
absl::StatusOr<FlatRun> LayZeroGroup(absl::Span<const int64_t> elements,
                                     int64_t parameter_alignment,
                                     int64_t ranks);

// Stage 3: what each rank has of a parameter, the last ones padded.
// REQUIRES: elements >= 0, ranks >= 1.
int64_t ZeroShard(int64_t elements, int64_t ranks);

// Stage 3: the number of the sub-group of each parameter of a group, from 0. A
// sub-group is closed by the parameter with which its shards have
// `sub_group_size` elements or more (_create_fp16_sub_groups).
//   shards {5, 5, 3, 9}, size 8: 0 0 1 1
std::vector<int> ZeroSubGroups(absl::Span<const int64_t> shards,
                               int64_t sub_group_size);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_DEEPSPEED_ZERO_PARTITION_H_
