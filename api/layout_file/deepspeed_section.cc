#include "api/layout_file/deepspeed_section.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "api/json/reader.h"
#include "base/status_macros.h"

namespace dynatrain::api {
namespace {

// All parameters, where the file has no groups.
vps::ZeroGroup OneGroup(const vps::DeepSpeedJob& job, std::vector<int> axes) {
  vps::ZeroGroup group{.axes = std::move(axes)};
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const std::vector<vps::TorchState>& states = job.tensors[i].states;
    const bool is_parameter =
        std::any_of(states.begin(), states.end(),
                    [](const auto& state) { return state.state == "param"; });
    if (is_parameter) group.tensors.push_back(static_cast<int>(i));
  }
  return group;
}

absl::StatusOr<vps::ZeroGroup> ReadGroup(ObjectReader& reader,
                                         const vps::DeepSpeedJob& job,
                                         const std::vector<int>& axes) {
  reader.Require({"tensors"});
  reader.AllowOnly({"axes", "tensors"});
  RETURN_IF_ERROR(reader.status());
  vps::ZeroGroup group;
  ASSIGN_OR_RETURN(group.axes, ReadAxes(reader, "axes", job.world.mesh, axes));
  ASSIGN_OR_RETURN(group.tensors,
                   ReadTensorNames(reader, "tensors", job.tensors));
  return group;
}

}  // namespace

absl::StatusOr<vps::DeepSpeedJob> ReadDeepSpeedSection(
    const nlohmann::json& section, absl::string_view path,
    const TorchDefaults& defaults) {
  ObjectReader reader(section, std::string(path));
  reader.Require({"stage"});
  reader.AllowOnly({"mesh", "pipeline", "tensors", "stage",
                    "round_robin_gradients", "parameter_alignment",
                    "sub_group_size", "groups", "frozen_axes"});
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(vps::TorchWorld world, ReadTorchWorld(reader, defaults));
  vps::DeepSpeedJob job{.world = std::move(world)};
  job.stage = static_cast<int>(reader.Int("stage", 1, 3, 1));
  job.round_robin_gradients = reader.Bool("round_robin_gradients");
  job.parameter_alignment = reader.Bool("parameter_alignment");
  job.sub_group_size =
      reader.Int("sub_group_size", 1, std::numeric_limits<int64_t>::max(),
                 vps::kDefaultSubGroupSize);
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(job.tensors, ReadTorchTensors(reader, job.world, defaults));
  const vps::Mesh& mesh = job.world.mesh;
  std::vector<int> axes;
  if (const auto dp = mesh.AxisIndex("dp"); dp.has_value()) axes = {*dp};
  ASSIGN_OR_RETURN(job.frozen_axes,
                   ReadAxes(reader, "frozen_axes", mesh, axes));
  for (ObjectReader& entry : reader.List("groups")) {
    ASSIGN_OR_RETURN(vps::ZeroGroup group, ReadGroup(entry, job, axes));
    job.groups.push_back(std::move(group));
  }
  RETURN_IF_ERROR(reader.status());
  if (!reader.Has("groups")) job.groups.push_back(OneGroup(job, axes));
  return job;
}

}  // namespace dynatrain::api
