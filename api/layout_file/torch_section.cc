#include "api/layout_file/torch_section.h"

#include <string>
#include <utility>

#include "api/json/reader.h"
#include "base/status_macros.h"
#include "vps/model/dtype.h"

namespace dynatrain::api {
namespace {

absl::StatusOr<vps::FlatParameter> ReadFlatParameter(ObjectReader& reader,
                                                     const vps::TorchJob& job) {
  reader.Require({"tensors"});
  reader.AllowOnly(
      {"name", "axes", "use_orig_params", "compute_dtype", "tensors"});
  vps::FlatParameter unit{.name = reader.Text("name"),
                          .use_orig_params = reader.Bool("use_orig_params")};
  const std::string dtype = reader.Text("compute_dtype");
  RETURN_IF_ERROR(reader.status());
  if (!dtype.empty()) {
    ASSIGN_OR_RETURN(unit.compute_dtype, vps::ParseDtype(dtype),
                     reader.Path("compute_dtype"));
  }
  const vps::Mesh& mesh = job.world.mesh;
  std::vector<int> otherwise;
  if (const auto dp = mesh.AxisIndex("dp"); dp.has_value()) otherwise = {*dp};
  ASSIGN_OR_RETURN(unit.axes,
                   ReadAxes(reader, "axes", mesh, std::move(otherwise)));
  ASSIGN_OR_RETURN(unit.tensors,
                   ReadTensorNames(reader, "tensors", job.tensors));
  return unit;
}

}  // namespace

absl::StatusOr<vps::TorchJob> ReadTorchSection(const nlohmann::json& section,
                                               absl::string_view path,
                                               const TorchDefaults& defaults) {
  ObjectReader reader(section, std::string(path));
  reader.AllowOnly({"mesh", "pipeline", "tensors", "flat_parameters"});
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(vps::TorchWorld world, ReadTorchWorld(reader, defaults));
  vps::TorchJob job{.world = std::move(world)};
  ASSIGN_OR_RETURN(job.tensors, ReadTorchTensors(reader, job.world, defaults));
  for (ObjectReader& entry : reader.List("flat_parameters")) {
    ASSIGN_OR_RETURN(vps::FlatParameter unit, ReadFlatParameter(entry, job));
    job.flat_parameters.push_back(std::move(unit));
  }
  RETURN_IF_ERROR(reader.status());
  return job;
}

}  // namespace dynatrain::api
