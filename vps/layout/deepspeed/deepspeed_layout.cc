#include "vps/layout/deepspeed/deepspeed_layout.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/torch/named_buffers.h"

namespace dynatrain::vps {
namespace {

bool IsWhole(const std::string& state) { return state == "buffer"; }

// A tensor's place in the runs of its group.
struct Place {
  const ZeroGroup* group;
  int group_index;
  FlatPosition position;
  // Stage 3: where the rank's shard begins in the buffers.
  int sub_group = 0;
  int64_t offset_in_sub_group = 0;
  int64_t offset_in_params = 0;
};

// REQUIRES: CheckJob, which has seen the axes.
int64_t RanksOf(const DeepSpeedJob& job, const std::vector<int>& axes) {
  return *RanksOnAxes(job.world.mesh, axes);
}

absl::Status CheckJob(const DeepSpeedJob& job) {
  if (job.stage < 1 || job.stage > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("stage ", job.stage, " of ZeRO; there are 1, 2 and 3"));
  }
  if (job.stage > 1 && job.world.pipeline.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("stage ", job.stage,
                     " with pipeline stages; DeepSpeed's engine has "
                     "ZeRO-2 and ZeRO-3 incompatible with pipeline "
                     "parallelism: use stage 1"));
  }
  if (job.sub_group_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("sub_group_size ", job.sub_group_size, " is below 1"));
  }
  RETURN_IF_ERROR(RanksOnAxes(job.world.mesh, job.frozen_axes), "frozen_axes");
  for (size_t g = 0; g < job.groups.size(); ++g) {
    const std::string where = absl::StrCat("groups[", g, "]");
    RETURN_IF_ERROR(RanksOnAxes(job.world.mesh, job.groups[g].axes), where);
    if (job.groups[g].axes.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": there is no axis to partition it over"));
    }
  }
  return absl::OkStatus();
}

// Lays out group after group.
class Partitioner {
 public:
  explicit Partitioner(const DeepSpeedJob& job) : job_(job) {}

  absl::Status Run() {
    for (size_t g = 0; g < job_.groups.size(); ++g) {
      const std::string where = absl::StrCat("groups[", g, "]");
      RETURN_IF_ERROR(Lay(static_cast<int>(g)), where);
    }
    return absl::OkStatus();
  }

  // Where a state of a tensor of a group lies.
  TorchMemory MemoryOf(const Place& place, const std::string& state,
                       NamedBuffers& buffers) const {
    TorchMemory memory;
    const bool is_param = state == "param";
    memory.storage = job_.stage == 3 ? ShardStorage(place, state, buffers)
                                     : RunStorage(place, state, buffers);
    if (job_.stage == 3 || !is_param) {
      memory.flat = Flat{.group = {.axes = place.group->axes}};
      memory.position = place.position;
    }
    return memory;
  }

  // nullptr if the tensor is in no group.
  const Place* Find(int tensor) const {
    const auto it = places_.find(tensor);
    return it == places_.end() ? nullptr : &it->second;
  }

 private:
  absl::Status Lay(int index) {
    const ZeroGroup& group = job_.groups[index];
    RETURN_IF_ERROR(CheckLaidTogether(job_.tensors, group.tensors));
    std::vector<int64_t> elements;
    for (int tensor : group.tensors) {
      ASSIGN_OR_RETURN(int64_t count, ElementsOf(job_.tensors[tensor]));
      elements.push_back(count);
      const auto [it, is_new] =
          places_.try_emplace(tensor, Place{&group, index, {}});
      if (!is_new) {
        return absl::InvalidArgumentError(
            absl::StrCat("tensor ", job_.tensors[tensor].name, " is in groups[",
                         it->second.group_index, "] already"));
      }
    }
    return job_.stage == 3 ? LayShards(group, elements)
                           : LayRun(group, elements);
  }

  // Of a parameter, as a rank has it before it is partitioned.
  absl::StatusOr<int64_t> ElementsOf(const TorchTensor& tensor) const {
    ASSIGN_OR_RETURN(const int64_t elements,
                     EvenLocalElements(job_.world, tensor));
    if (elements == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", tensor.name,
                       " has no elements; DeepSpeed leaves it out of groups"));
    }
    RETURN_IF_ERROR(ParamDtype(tensor));
    return elements;
  }

  Storage RunStorage(const Place& place, const std::string& state,
                     NamedBuffers& buffers) const {
    const std::string name = absl::StrCat(place.group_index, "/", state);
    const int64_t shard = place.position.shard;
    if (state != "param") return {.buffer = buffers.Of(name, shard)};
    return {
        .buffer = buffers.Of(name, shard * RanksOf(job_, place.group->axes)),
        .offset = place.position.position};
  }

  Storage ShardStorage(const Place& place, const std::string& state,
                       NamedBuffers& buffers) const {
    if (state == "param") {
      return {.buffer = buffers.Of(state, params_),
              .offset = place.offset_in_params};
    }
    return {.buffer = buffers.Of(absl::StrCat(place.sub_group, "/", state),
                                 sub_group_elements_[place.sub_group]),
            .offset = place.offset_in_sub_group};
  }

  // Stages 1 and 2. `elements` in the order of the group.
  absl::Status LayRun(const ZeroGroup& group,
                      const std::vector<int64_t>& elements) {
    const int count = static_cast<int>(elements.size());
    const int64_t ranks = RanksOf(job_, group.axes);
    const std::vector<int> order = RoundRobinOrder(
        count, job_.round_robin_gradients ? static_cast<int>(ranks) : 1);
    std::vector<int64_t> ordered;
    for (int i : order) ordered.push_back(elements[i]);
    // DeepSpeed takes the size of the group's first parameter.
    ASSIGN_OR_RETURN(const Dtype dtype,
                     ParamDtype(job_.tensors[group.tensors[0]]));
    const int64_t alignment =
        job_.parameter_alignment
            ? std::max<int64_t>(1,
                                kZeroParameterAlignmentBytes / ItemBytes(dtype))
            : 1;
    ASSIGN_OR_RETURN(const FlatRun run,
                     LayZeroGroup(ordered, alignment, ranks));
    for (int i = 0; i < count; ++i) {
      places_.at(group.tensors[order[i]]).position = {
          .position = run.positions[i], .shard = run.shard};
    }
    return absl::OkStatus();
  }

  absl::Status LayShards(const ZeroGroup& group,
                         const std::vector<int64_t>& elements) {
    std::vector<int64_t> shards;
    for (int64_t count : elements) {
      shards.push_back(ZeroShard(count, RanksOf(job_, group.axes)));
    }
    const std::vector<int> sub_groups =
        ZeroSubGroups(shards, job_.sub_group_size);
    const int first = static_cast<int>(sub_group_elements_.size());
    sub_group_elements_.resize(first + sub_groups.back() + 1);
    for (size_t i = 0; i < shards.size(); ++i) {
      Place& place = places_.at(group.tensors[i]);
      place.position = {.position = 0, .shard = shards[i]};
      place.sub_group = first + sub_groups[i];
      int64_t& in_sub_group = sub_group_elements_[place.sub_group];
      place.offset_in_sub_group = in_sub_group;
      place.offset_in_params = params_;
      const std::optional<int64_t> params = CheckedAdd(params_, shards[i]);
      if (!params.has_value()) {
        return absl::InvalidArgumentError("the shards do not fit 63 bits");
      }
      params_ = *params;
      in_sub_group += shards[i];
    }
    return absl::OkStatus();
  }

  const DeepSpeedJob& job_;
  absl::flat_hash_map<int, Place> places_;
  // Stage 3, of a rank, over the groups so far, in elements.
  std::vector<int64_t> sub_group_elements_;
  int64_t params_ = 0;
};

// Of a parameter in no group: it is frozen, and has no optimizer state.
absl::StatusOr<TorchMemory> FrozenMemory(const DeepSpeedJob& job,
                                         const TorchTensor& tensor,
                                         const std::string& state) {
  if (state != "param") {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", tensor.name, " has state \"", state,
        "\", but is in no group, so the optimizer does not know it"));
  }
  TorchMemory memory;
  if (job.stage != 3 || job.frozen_axes.empty()) return memory;
  ASSIGN_OR_RETURN(const int64_t elements,
                   EvenLocalElements(job.world, tensor));
  memory.flat = Flat{.group = {.axes = job.frozen_axes}};
  memory.position.shard =
      ZeroShard(std::max<int64_t>(elements, 1), RanksOf(job, job.frozen_axes));
  return memory;
}

}  // namespace

absl::StatusOr<BufferedLayout> DeepSpeedLayout(const DeepSpeedJob& job) {
  RETURN_IF_ERROR(CheckJob(job));
  Partitioner partitioner(job);
  RETURN_IF_ERROR(partitioner.Run());
  LayoutBuilder builder;
  NamedBuffers buffers(&builder);
  const int mesh = builder.AddMesh(job.world.mesh);
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const TorchTensor& tensor = job.tensors[i];
    const Place* place = partitioner.Find(static_cast<int>(i));
    for (const TorchState& state : tensor.states) {
      TorchMemory memory;
      if (place != nullptr) {
        memory = partitioner.MemoryOf(*place, state.state, buffers);
      } else if (!IsWhole(state.state)) {
        ASSIGN_OR_RETURN(memory, FrozenMemory(job, tensor, state.state));
      }
      RETURN_IF_ERROR(
          AddTorchTensor(job.world, mesh, tensor, state, memory, builder));
    }
  }
  ASSIGN_OR_RETURN(Layout layout, std::move(builder).Build());
  return BufferedLayout{std::move(layout), std::move(buffers).TakeElements()};
}

}  // namespace dynatrain::vps
