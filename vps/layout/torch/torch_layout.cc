#include "vps/layout/torch/torch_layout.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/torch/flat_run.h"
#include "vps/layout/torch/job_lanes.h"
#include "vps/layout/torch/named_buffers.h"

namespace dynatrain::vps {
namespace {

std::string NameOf(const FlatParameter& unit) {
  return absl::StrCat("flat parameter \"", unit.name, "\"");
}

// A tensor's place in its flat parameter.
struct PlaceInUnit {
  int unit = 0;
  std::vector<FlatPosition> positions;  // by lane
};

// The dtype of the parameters of a unit. REQUIRES: CheckLaidTogether.
absl::StatusOr<Dtype> DtypeOf(const TorchJob& job, const FlatParameter& unit) {
  ASSIGN_OR_RETURN(const Dtype first, ParamDtype(job.tensors[unit.tensors[0]]));
  for (int index : unit.tensors) {
    ASSIGN_OR_RETURN(const Dtype dtype, ParamDtype(job.tensors[index]));
    if (dtype == first) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", job.tensors[index].name, " is ", DtypeName(dtype),
        ", the tensors before it are ", DtypeName(first),
        "; FSDP1 flattens tensors of one dtype only"));
  }
  return first;
}

// On the ranks of a lane.
absl::StatusOr<FlatRun> RunOfUnit(const TorchJob& job, const JobLanes& lanes,
                                  int lane, const FlatParameter& unit) {
  ASSIGN_OR_RETURN(const int64_t ranks, RanksOnAxes(job.world.mesh, unit.axes));
  ASSIGN_OR_RETURN(const Dtype dtype, DtypeOf(job, unit));
  std::vector<int64_t> elements;
  for (int index : unit.tensors) {
    elements.push_back(lanes.Elements(job.tensors[index], lane));
  }
  const int64_t alignment = kFlatParameterAlignmentBytes /
                            ItemBytes(unit.compute_dtype.value_or(dtype));
  return LayFlatParameter(elements, unit.use_orig_params ? alignment : 0,
                          ranks);
}

// By the index of the tensor.
using Places = absl::flat_hash_map<int, PlaceInUnit>;

// Without positions.
absl::StatusOr<Places> UnitsOfTensors(const TorchJob& job) {
  Places places;
  for (size_t u = 0; u < job.flat_parameters.size(); ++u) {
    const FlatParameter& unit = job.flat_parameters[u];
    RETURN_IF_ERROR(
        CheckLaidTogether(job.world.mesh, job.tensors, unit.tensors, unit.axes),
        NameOf(unit));
    for (int tensor : unit.tensors) {
      const auto [it, is_new] =
          places.try_emplace(tensor, PlaceInUnit{static_cast<int>(u), {}});
      if (!is_new) {
        return absl::InvalidArgumentError(absl::StrCat(
            NameOf(unit), ": tensor ", job.tensors[tensor].name, " is in ",
            NameOf(job.flat_parameters[it->second.unit]), " already"));
      }
    }
  }
  return places;
}

absl::Status LayUnits(const TorchJob& job, const JobLanes& lanes,
                      Places& places) {
  for (const FlatParameter& unit : job.flat_parameters) {
    for (int lane = 0; lane < lanes.size(); ++lane) {
      ASSIGN_OR_RETURN(const FlatRun run, RunOfUnit(job, lanes, lane, unit),
                       NameOf(unit));
      for (size_t i = 0; i < unit.tensors.size(); ++i) {
        places.at(unit.tensors[i])
            .positions.push_back({run.positions[i], run.shard});
      }
    }
  }
  return absl::OkStatus();
}

TorchMemory MemoryInUnit(const FlatParameter& unit, const PlaceInUnit& place,
                         const std::string& state, const JobLanes& lanes,
                         NamedBuffers& buffers) {
  TorchMemory memory = {.table = {.axes = lanes.axes(), .lanes = {}}};
  const bool is_sharded = !unit.axes.empty();
  if (is_sharded) memory.flat = Flat{.group = {.axes = unit.axes}};
  const bool of_the_optimizer = state != "param" && state != "grad";
  for (int number = 0; number < lanes.size(); ++number) {
    const FlatPosition& position = place.positions[number];
    Lane& lane = memory.table.lanes.emplace_back();
    if (is_sharded) lane.flat = position;
    if (unit.use_orig_params && of_the_optimizer) continue;
    lane.storage = {.buffer = buffers.Of(absl::StrCat(unit.name, "/", state),
                                         number, position.shard),
                    .offset = is_sharded ? 0 : position.position};
  }
  return memory;
}

}  // namespace

absl::StatusOr<BufferedLayout> TorchLayout(const TorchJob& job) {
  ASSIGN_OR_RETURN(Places places, UnitsOfTensors(job));
  std::vector<int> members;
  for (const FlatParameter& unit : job.flat_parameters) {
    members.insert(members.end(), unit.tensors.begin(), unit.tensors.end());
  }
  ASSIGN_OR_RETURN(const JobLanes lanes,
                   JobLanes::Create(job.world.mesh, job.tensors, members));
  RETURN_IF_ERROR(LayUnits(job, lanes, places));
  LayoutBuilder builder;
  NamedBuffers buffers(lanes.size(), &builder);
  const int mesh = builder.AddMesh(job.world.mesh);
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const TorchTensor& tensor = job.tensors[i];
    const auto place = places.find(static_cast<int>(i));
    for (const TorchState& state : tensor.states) {
      TorchMemory memory;
      if (place != places.end()) {
        memory = MemoryInUnit(job.flat_parameters[place->second.unit],
                              place->second, state.state, lanes, buffers);
      }
      RETURN_IF_ERROR(
          AddTorchTensor(job.world, mesh, tensor, state, memory, builder));
    }
  }
  ASSIGN_OR_RETURN(Layout layout, std::move(builder).Build());
  return BufferedLayout{std::move(layout), lanes.group(),
                        std::move(buffers).TakeElements()};
}

}  // namespace dynatrain::vps
