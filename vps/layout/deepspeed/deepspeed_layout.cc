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
#include "vps/layout/torch/job_lanes.h"
#include "vps/layout/torch/named_buffers.h"

namespace dynatrain::vps {
namespace {

bool IsWhole(const std::string& state) { return state == "buffer"; }

// A tensor's place in the runs of its group, on the ranks of one lane.
struct Place {
  FlatPosition position;
  // Stage 3: where the rank's shard begins in the buffers.
  int sub_group = 0;
  int64_t offset_in_sub_group = 0;
  int64_t offset_in_params = 0;
};

// The group of each tensor that is in one, by its index.
using GroupOfTensor = absl::flat_hash_map<int, int>;

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

absl::Status CheckMember(const TorchTensor& tensor) {
  RETURN_IF_ERROR(ParamDtype(tensor).status());
  if (CheckedVolume(tensor.shape) != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "tensor ", tensor.name,
      " has no elements; an optimizer's group is of parameters with some"));
}

absl::StatusOr<GroupOfTensor> GroupsOfTensors(const DeepSpeedJob& job) {
  GroupOfTensor groups;
  for (size_t g = 0; g < job.groups.size(); ++g) {
    const ZeroGroup& group = job.groups[g];
    const std::string where = absl::StrCat("groups[", g, "]");
    RETURN_IF_ERROR(CheckLaidTogether(job.world.mesh, job.tensors,
                                      group.tensors, group.axes),
                    where);
    for (int tensor : group.tensors) {
      RETURN_IF_ERROR(CheckMember(job.tensors[tensor]), where);
      const auto [it, is_new] = groups.try_emplace(tensor, static_cast<int>(g));
      if (is_new) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": tensor ", job.tensors[tensor].name,
                       " is in groups[", it->second, "] already"));
    }
  }
  return groups;
}

// Lays out group after group, as the ranks of one lane do.
class Partitioner {
 public:
  Partitioner(const DeepSpeedJob& job, const JobLanes& lanes, int lane)
      : job_(job), lanes_(lanes), lane_(lane) {}

  absl::Status Run() {
    for (size_t g = 0; g < job_.groups.size(); ++g) {
      const ZeroGroup group = OptimizedPart(job_.groups[g]);
      const std::string where = absl::StrCat("groups[", g, "]");
      if (group.tensors.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            where, ": some ranks have no element of any of its tensors"));
      }
      RETURN_IF_ERROR(job_.stage == 3 ? LayShards(group) : LayRun(group),
                      where);
    }
    return absl::OkStatus();
  }

  // Where a state of a tensor of group number `group` lies.
  Lane LaneOf(int tensor, int group, const std::string& state,
              NamedBuffers& buffers) const {
    const Place& place = places_.at(tensor);
    if (job_.stage == 3) {
      return {place.position, ShardStorage(place, state, buffers)};
    }
    const Storage storage = RunStorage(place, group, state, buffers);
    return {state == "param" ? FlatPosition() : place.position, storage};
  }

 private:
  // Without the tensors of which the rank has no element: DeepSpeed's
  // is_optimized_parameter.
  ZeroGroup OptimizedPart(ZeroGroup group) {
    const auto is_empty = [&](int tensor) {
      if (lanes_.Elements(job_.tensors[tensor], lane_) > 0) return false;
      places_[tensor].position.shard = 1;
      return true;
    };
    group.tensors.erase(
        std::remove_if(group.tensors.begin(), group.tensors.end(), is_empty),
        group.tensors.end());
    return group;
  }

  std::vector<int64_t> ElementsOf(const ZeroGroup& group) const {
    std::vector<int64_t> elements;
    for (int tensor : group.tensors) {
      elements.push_back(lanes_.Elements(job_.tensors[tensor], lane_));
    }
    return elements;
  }

  Storage RunStorage(const Place& place, int group, const std::string& state,
                     NamedBuffers& buffers) const {
    const std::string name = absl::StrCat(group, "/", state);
    const int64_t shard = shards_[group];
    if (state != "param") return {.buffer = buffers.Of(name, lane_, shard)};
    const int64_t ranks = RanksOf(job_, job_.groups[group].axes);
    return {.buffer = buffers.Of(name, lane_, shard * ranks),
            .offset = place.position.position};
  }

  Storage ShardStorage(const Place& place, const std::string& state,
                       NamedBuffers& buffers) const {
    if (state == "param") {
      return {.buffer = buffers.Of(state, lane_, params_),
              .offset = place.offset_in_params};
    }
    return {.buffer = buffers.Of(absl::StrCat(place.sub_group, "/", state),
                                 lane_, sub_group_elements_[place.sub_group]),
            .offset = place.offset_in_sub_group};
  }

  // Stages 1 and 2.
  absl::Status LayRun(const ZeroGroup& group) {
    const std::vector<int64_t> elements = ElementsOf(group);
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
    shards_.push_back(run.shard);
    for (int i = 0; i < count; ++i) {
      places_[group.tensors[order[i]]].position = {run.positions[i], run.shard};
    }
    return absl::OkStatus();
  }

  absl::Status LayShards(const ZeroGroup& group) {
    std::vector<int64_t> shards;
    for (int64_t count : ElementsOf(group)) {
      shards.push_back(ZeroShard(count, RanksOf(job_, group.axes)));
    }
    const std::vector<int> sub_groups =
        ZeroSubGroups(shards, job_.sub_group_size);
    const int first = static_cast<int>(sub_group_elements_.size());
    sub_group_elements_.resize(first + sub_groups.back() + 1);
    for (size_t i = 0; i < shards.size(); ++i) {
      Place& place = places_[group.tensors[i]];
      place.position.shard = shards[i];
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
  const JobLanes& lanes_;
  const int lane_;
  absl::flat_hash_map<int, Place> places_;  // by the tensor
  std::vector<int64_t> shards_;  // stages 1 and 2: of a rank, by the group
  // Stage 3, of a rank, over the groups so far, in elements.
  std::vector<int64_t> sub_group_elements_;
  int64_t params_ = 0;
};

// Whether parameters in no group are partitioned too.
bool FlattensFrozen(const DeepSpeedJob& job) {
  return job.stage == 3 && !job.frozen_axes.empty();
}

// Those that are flattened: what is in groups and, in stage 3, the rest too.
std::vector<int> FlattenedTensors(const DeepSpeedJob& job,
                                  const GroupOfTensor& groups) {
  std::vector<int> tensors;
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const bool is_frozen = !groups.contains(static_cast<int>(i));
    if (is_frozen && !FlattensFrozen(job)) continue;
    tensors.push_back(static_cast<int>(i));
  }
  return tensors;
}

// Of a parameter in no group: it is frozen, and has no optimizer state.
absl::StatusOr<TorchMemory> FrozenMemory(const DeepSpeedJob& job,
                                         const JobLanes& lanes,
                                         const TorchTensor& tensor,
                                         const std::string& state) {
  if (state != "param") {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", tensor.name, " has state \"", state,
        "\", but is in no group, so the optimizer does not know it"));
  }
  if (!FlattensFrozen(job)) return TorchMemory();
  TorchMemory memory = {.flat = Flat{.group = {.axes = job.frozen_axes}},
                        .table = {.axes = lanes.axes(), .lanes = {}}};
  for (int lane = 0; lane < lanes.size(); ++lane) {
    const int64_t elements = std::max<int64_t>(lanes.Elements(tensor, lane), 1);
    memory.table.lanes.push_back(
        {.flat = {.shard =
                      ZeroShard(elements, RanksOf(job, job.frozen_axes))}});
  }
  return memory;
}

// Where the states of tensors lie.
class Memories {
 public:
  Memories(const DeepSpeedJob& job, const GroupOfTensor& groups,
           const JobLanes& lanes)
      : job_(job), groups_(groups), lanes_(lanes) {}

  absl::Status Run() {
    for (int lane = 0; lane < lanes_.size(); ++lane) {
      partitioners_.emplace_back(job_, lanes_, lane);
      RETURN_IF_ERROR(partitioners_.back().Run());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<TorchMemory> Of(int tensor, const std::string& state,
                                 NamedBuffers& buffers) const {
    const auto group = groups_.find(tensor);
    if (group != groups_.end()) {
      return InGroup(tensor, group->second, state, buffers);
    }
    if (IsWhole(state)) return TorchMemory();
    return FrozenMemory(job_, lanes_, job_.tensors[tensor], state);
  }

 private:
  TorchMemory InGroup(int tensor, int group, const std::string& state,
                      NamedBuffers& buffers) const {
    TorchMemory memory = {.table = {.axes = lanes_.axes(), .lanes = {}}};
    if (job_.stage == 3 || state != "param") {
      memory.flat = Flat{.group = {.axes = job_.groups[group].axes}};
    }
    for (const Partitioner& partitioner : partitioners_) {
      memory.table.lanes.push_back(
          partitioner.LaneOf(tensor, group, state, buffers));
    }
    return memory;
  }

  const DeepSpeedJob& job_;
  const GroupOfTensor& groups_;
  const JobLanes& lanes_;
  std::vector<Partitioner> partitioners_;  // by lane
};

}  // namespace

absl::StatusOr<BufferedLayout> DeepSpeedLayout(const DeepSpeedJob& job) {
  RETURN_IF_ERROR(CheckJob(job));
  ASSIGN_OR_RETURN(const GroupOfTensor groups, GroupsOfTensors(job));
  ASSIGN_OR_RETURN(const JobLanes lanes,
                   JobLanes::Create(job.world.mesh, job.tensors,
                                    FlattenedTensors(job, groups)));
  Memories memories(job, groups, lanes);
  RETURN_IF_ERROR(memories.Run());
  LayoutBuilder builder;
  NamedBuffers buffers(lanes.size(), &builder);
  const int mesh = builder.AddMesh(job.world.mesh);
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const TorchTensor& tensor = job.tensors[i];
    for (const TorchState& state : tensor.states) {
      ASSIGN_OR_RETURN(const TorchMemory memory,
                       memories.Of(static_cast<int>(i), state.state, buffers));
      RETURN_IF_ERROR(
          AddTorchTensor(job.world, mesh, tensor, state, memory, builder));
    }
  }
  ASSIGN_OR_RETURN(Layout layout, std::move(builder).Build());
  return BufferedLayout{std::move(layout), lanes.group(),
                        std::move(buffers).TakeElements()};
}

}  // namespace dynatrain::vps
