#include "api/layout_file/load_torch.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/layout_file/common_fields.h"
#include "api/layout_file/deepspeed_section.h"
#include "api/layout_file/torch_section.h"
#include "base/status_macros.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/deepspeed/deepspeed_layout.h"
#include "vps/layout/mesh.h"
#include "vps/layout/torch/buffered_layout.h"
#include "vps/layout/torch/torch_layout.h"
#include "vps/model/state_class.h"

namespace dynatrain::api {
namespace {

// The mesh of the package dynatrain, if the file has `parallelism`.
absl::StatusOr<std::optional<vps::Mesh>> MeshOfParallelism(
    const ObjectReader& root) {
  if (!root.Has("parallelism")) return std::nullopt;
  ObjectReader parallelism = root.Object("parallelism");
  parallelism.AllowOnly({"dp", "tp", "pp", "ep", "rep"});
  const auto size = [&](absl::string_view axis) {
    return parallelism.Int(axis, 1, vps::kMaxWorldSize, 1);
  };
  const vps::AxisSizes::Values values = {.dp = size("dp"),
                                         .tp = size("tp"),
                                         .pp = size("pp"),
                                         .ep = size("ep"),
                                         .rep = size("rep")};
  RETURN_IF_ERROR(parallelism.status());
  ASSIGN_OR_RETURN(const vps::AxisSizes sizes, vps::AxisSizes::Create(values),
                   "parallelism");
  return vps::Mesh::Of(sizes);
}

absl::StatusOr<TorchDefaults> ReadTorchDefaults(const ObjectReader& root) {
  TorchDefaults defaults;
  ASSIGN_OR_RETURN(defaults.mesh, MeshOfParallelism(root));
  if (!root.Has("states")) return defaults;
  ASSIGN_OR_RETURN(const vps::StateList states, ReadStates(root));
  for (const vps::StateClass& state : states.states()) {
    // Buffers and scales are tensors of their own here.
    if (state.owners == vps::StateOwners::kParameters &&
        state.granularity.kind == vps::Granularity::Kind::kElement) {
      defaults.states.push_back({state.name, state.dtype});
    }
  }
  return defaults;
}

// A layout with what the rest of the file says of it.
absl::StatusOr<LoadedLayout> Loaded(ObjectReader root,
                                    vps::BufferedLayout made) {
  const int64_t ranks = made.layout.world_size();
  if (root.Int("world", 1, vps::kMaxWorldSize, ranks) != ranks) {
    root.Refuse("world", absl::StrCat("is not the size of the mesh, ", ranks));
  }
  const std::string framework = root.Text("framework");
  const std::string version = root.Text("version");
  RETURN_IF_ERROR(root.status());
  const auto job = std::make_shared<const vps::BufferedLayout>(std::move(made));
  return LoadedLayout{
      .model = ModelName(root.At("model")),
      .framework = framework,
      .framework_version = version,
      .layout = job->layout,
      .live = {.name = [job](int, int tensor,
                             int) { return job->layout.tensor(tensor).name(); },
               .buffers = [job](int rank) { return ListBuffers(*job, rank); }}};
}

}  // namespace

absl::StatusOr<LoadedLayout> LoadTorch(ObjectReader root) {
  root.Require({"framework", "torch"});
  root.AllowOnly({"model", "framework", "version", "world", "parallelism",
                  "torch", "states"});
  RETURN_IF_ERROR(root.status());
  ASSIGN_OR_RETURN(const TorchDefaults defaults, ReadTorchDefaults(root));
  ASSIGN_OR_RETURN(const vps::TorchJob job,
                   ReadTorchSection(root.At("torch"), "torch", defaults));
  ASSIGN_OR_RETURN(vps::BufferedLayout made, vps::TorchLayout(job));
  return Loaded(std::move(root), std::move(made));
}

absl::StatusOr<LoadedLayout> LoadDeepSpeed(ObjectReader root) {
  root.Require({"framework", "deepspeed"});
  root.AllowOnly({"model", "framework", "version", "world", "parallelism",
                  "deepspeed", "states"});
  RETURN_IF_ERROR(root.status());
  ASSIGN_OR_RETURN(const TorchDefaults defaults, ReadTorchDefaults(root));
  ASSIGN_OR_RETURN(
      const vps::DeepSpeedJob job,
      ReadDeepSpeedSection(root.At("deepspeed"), "deepspeed", defaults));
  ASSIGN_OR_RETURN(vps::BufferedLayout made, vps::DeepSpeedLayout(job));
  return Loaded(std::move(root), std::move(made));
}

}  // namespace dynatrain::api
