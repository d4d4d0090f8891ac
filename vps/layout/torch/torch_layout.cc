#include "vps/layout/torch/torch_layout.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/torch/flat_run.h"
#include "vps/layout/torch/named_buffers.h"

namespace dynatrain::vps {
namespace {

std::string NameOf(const FlatParameter& unit) {
  return absl::StrCat("flat parameter \"", unit.name, "\"");
}

// A tensor's place in its flat parameter.
struct PlaceInUnit {
  int unit = 0;
  FlatPosition position;
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

absl::StatusOr<FlatRun> RunOfUnit(const TorchJob& job,
                                  const FlatParameter& unit) {
  RETURN_IF_ERROR(CheckLaidTogether(job.tensors, unit.tensors));
  ASSIGN_OR_RETURN(const int64_t ranks, RanksOnAxes(job.world.mesh, unit.axes));
  ASSIGN_OR_RETURN(const Dtype dtype, DtypeOf(job, unit));
  std::vector<int64_t> elements;
  for (int index : unit.tensors) {
    ASSIGN_OR_RETURN(int64_t count,
                     EvenLocalElements(job.world, job.tensors[index]));
    elements.push_back(count);
  }
  const int64_t alignment = kFlatParameterAlignmentBytes /
                            ItemBytes(unit.compute_dtype.value_or(dtype));
  return LayFlatParameter(elements, unit.use_orig_params ? alignment : 0,
                          ranks);
}

// By the index of the tensor.
absl::StatusOr<absl::flat_hash_map<int, PlaceInUnit>> PlacesInUnits(
    const TorchJob& job) {
  absl::flat_hash_map<int, PlaceInUnit> places;
  for (size_t u = 0; u < job.flat_parameters.size(); ++u) {
    const FlatParameter& unit = job.flat_parameters[u];
    ASSIGN_OR_RETURN(const FlatRun run, RunOfUnit(job, unit), NameOf(unit));
    for (size_t i = 0; i < unit.tensors.size(); ++i) {
      const PlaceInUnit place{
          .unit = static_cast<int>(u),
          .position = {.position = run.positions[i], .shard = run.shard}};
      const auto [it, is_new] = places.try_emplace(unit.tensors[i], place);
      if (!is_new) {
        return absl::InvalidArgumentError(absl::StrCat(
            NameOf(unit), ": tensor ", job.tensors[unit.tensors[i]].name,
            " is in ", NameOf(job.flat_parameters[it->second.unit]),
            " already"));
      }
    }
  }
  return places;
}

TorchMemory MemoryInUnit(const FlatParameter& unit, const PlaceInUnit& place,
                         const std::string& state, NamedBuffers& buffers) {
  TorchMemory memory;
  if (!unit.axes.empty()) {
    memory.flat = Flat{.group = {.axes = unit.axes}};
    memory.position = place.position;
  }
  const bool of_the_optimizer = state != "param" && state != "grad";
  if (unit.use_orig_params && of_the_optimizer) return memory;
  memory.storage = {.buffer = buffers.Of(absl::StrCat(unit.name, "/", state),
                                         place.position.shard),
                    .offset = unit.axes.empty() ? place.position.position : 0};
  return memory;
}

}  // namespace

absl::StatusOr<BufferedLayout> TorchLayout(const TorchJob& job) {
  ASSIGN_OR_RETURN((const absl::flat_hash_map<int, PlaceInUnit> places),
                   PlacesInUnits(job));
  LayoutBuilder builder;
  NamedBuffers buffers(&builder);
  const int mesh = builder.AddMesh(job.world.mesh);
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const TorchTensor& tensor = job.tensors[i];
    const auto place = places.find(static_cast<int>(i));
    for (const TorchState& state : tensor.states) {
      TorchMemory memory;
      if (place != places.end()) {
        memory = MemoryInUnit(job.flat_parameters[place->second.unit],
                              place->second, state.state, buffers);
      }
      RETURN_IF_ERROR(
          AddTorchTensor(job.world, mesh, tensor, state, memory, builder));
    }
  }
  ASSIGN_OR_RETURN(Layout layout, std::move(builder).Build());
  return BufferedLayout{std::move(layout), std::move(buffers).TakeElements()};
}

}  // namespace dynatrain::vps
