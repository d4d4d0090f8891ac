// The DeepSpeed mapping: jobs under ZeRO stage 1, 2 or 3 as a Layout.
//
//   DeepSpeedJob job{.world = {.mesh = *Mesh::Create({{"dp", 4}})}, .stage =
//   2}; job.tensors.push_back({.name = "weight", .shape = {8, 4},
//                          .states = {{"param"}, {"main"}, {"exp_avg"}}});
//   job.groups.push_back({.tensors = {0}, .axes = {0}});
//   ASSIGN_OR_RETURN(BufferedLayout made, DeepSpeedLayout(job));
//
// Proven against DeepSpeed itself: tests/oracle_deepspeed.
#ifndef VPS_LAYOUT_DEEPSPEED_DEEPSPEED_LAYOUT_H_
#define VPS_LAYOUT_DEEPSPEED_DEEPSPEED_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "vps/layout/deepspeed/zero_partition.h"
#include "vps/layout/torch/buffered_layout.h"
#include "vps/layout/torch/torch_tensor.h"

namespace dynatrain::vps {

// A param_group of the optimizer, of trainable parameters with elements.
struct ZeroGroup {
  // Indices of DeepSpeedJob::tensors, in the group's order.
  std::vector<int> tensors;
  // The mesh axes of the data-parallel group that partitions it, slowest first:
  // of experts that of the expert-data-parallel group, under MiCS the shard
  // group. The axes that are not named replicate.
  std::vector<int> axes;
};

struct DeepSpeedJob {
  TorchWorld world;
  int stage = 1;                                  // zero_optimization.stage
  bool round_robin_gradients = false;             // stages 1 and 2
  bool parameter_alignment = false;               // stages 1 and 2
  int64_t sub_group_size = kDefaultSubGroupSize;  // stage 3
  std::vector<TorchTensor> tensors;
  std::vector<ZeroGroup> groups;
  // The axes over which stage 3 cuts parameters that are in no group, as it
  // does with frozen ones.
  std::vector<int> frozen_axes;
};

// Tensors in the order of the job, each with its states in order. Stages 1 and
// 2: "param" and "buffer" are whole on every rank; the parameters of group G
// lie in buffer "G/param". All other states ("main", "exp_avg", ..., and
// "grad", of which a rank averages its own part only) are partitioned, in
// buffer "G/STATE" a rank's part of the group. Stage 3: all states but "buffer"
// are partitioned; the shards of the parameters of all groups lie in buffer
// "param", those of the states of sub-group S, counted over all groups, in
// "S/STATE".
//
// Returns kInvalidArgument naming the tensor or group and the field: as
// AddTorchTensor, JobLanes::Create and LayoutBuilder::Build do, or if the
// stage isn't 1, 2 or 3, or is 2 or 3 with a pipeline, sub_group_size is below
// 1, a group has no axis, a tensor of a group has no elements or no "param"
// state, is in two groups or on other pipeline stages than the first of its
// group, or a tensor in no group has a state that only the optimizer makes.
absl::StatusOr<BufferedLayout> DeepSpeedLayout(const DeepSpeedJob& job);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_DEEPSPEED_DEEPSPEED_LAYOUT_H_
