#include "api/layout_file/torch_fields.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/nearest.h"
#include "base/status_macros.h"
#include "vps/layout/sharding.h"
#include "vps/layout/split_cuts.h"
#include "vps/layout/torch/dtensor_placement.h"

namespace dynatrain::api {
namespace {

using vps::Cut;
using vps::Mesh;
using vps::TorchState;
using vps::TorchTensor;
using vps::TorchWorld;

constexpr int64_t kMaxExtent = int64_t{1} << 62;

absl::Status At(const ObjectReader& object, absl::string_view key,
                absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(object.Path(key), ": ", what));
}

// The texts of a list.
absl::StatusOr<std::vector<std::string>> Texts(const ObjectReader& object,
                                               absl::string_view key) {
  const nlohmann::json& list = object.At(key);
  std::vector<std::string> texts;
  if (list.is_null()) return texts;
  if (!list.is_array()) return At(object, key, "is not a list");
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string()) {
      return At(object, absl::StrCat(key, "[", i, "]"),
                absl::StrCat(DumpJson(list[i]).substr(0, 60), " is not text"));
    }
    texts.push_back(list[i].get<std::string>());
  }
  return texts;
}

// "pp2,dp2,tp2".
absl::StatusOr<Mesh> ParseMesh(absl::string_view text) {
  std::vector<vps::MeshAxis> axes;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    size_t digits = part.size();
    while (digits > 0 && absl::ascii_isdigit(part[digits - 1])) --digits;
    int size = 0;
    if (digits == 0 || !absl::SimpleAtoi(part.substr(digits), &size)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", part.substr(0, 64),
          "\" is no axis with its size; a mesh is such as dp2,tp4"));
    }
    axes.push_back({std::string(part.substr(0, digits)), size});
  }
  return Mesh::Create(std::move(axes));
}

absl::StatusOr<int> AxisNamed(const Mesh& mesh, const std::string& name) {
  const std::optional<int> axis = mesh.AxisIndex(name);
  if (axis.has_value()) return *axis;
  std::vector<std::string> known;
  for (const vps::MeshAxis& other : mesh.axes()) known.push_back(other.name);
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name.substr(0, 64), "\" is no axis of mesh ",
                   mesh.DebugString(), DidYouMean(name, known)));
}

absl::StatusOr<std::optional<vps::PipelineStages>> ReadPipeline(
    const ObjectReader& section, const Mesh& mesh) {
  if (!section.Has("pipeline")) return std::nullopt;
  ObjectReader pipeline = section.Object("pipeline");
  pipeline.AllowOnly({"axis", "stages", "style", "ranks"});
  const std::string name = pipeline.Text("axis", "pp");
  const int64_t stages = pipeline.Int("stages", 1, vps::kMaxPipelineStages, 0);
  const int style = pipeline.Choice("style", {"loop", "v"});
  const std::vector<int64_t> listed =
      pipeline.Ints("ranks", 0, vps::kMaxWorldSize);
  RETURN_IF_ERROR(pipeline.status());
  if (pipeline.Has("stages") == pipeline.Has("ranks")) {
    return At(section, "pipeline",
              "needs either stages (their number) or ranks (of each)");
  }
  ASSIGN_OR_RETURN(const int axis, AxisNamed(mesh, name),
                   pipeline.Path("axis"));
  const int ranks = mesh.size(axis);
  absl::StatusOr<vps::PipelineStages> made =
      !listed.empty() ? vps::PipelineStages::Create(
                            axis, {listed.begin(), listed.end()}, ranks)
      : style == 1 ? vps::PipelineStages::V(axis, stages, ranks)
                   : vps::PipelineStages::Loop(axis, stages, ranks);
  RETURN_IF_ERROR(made.status(), pipeline.path());
  return *made;
}

absl::StatusOr<TorchState> ParseState(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (parts.first.empty() || parts.second.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text.substr(0, 64),
                     "\" is no state; one is such as exp_avg:float32"));
  }
  ASSIGN_OR_RETURN(const vps::Dtype dtype, vps::ParseDtype(parts.second),
                   absl::StrCat("state ", parts.first));
  return TorchState{std::string(parts.first), dtype};
}

absl::StatusOr<std::vector<TorchState>> ParseStates(
    const std::vector<std::string>& texts) {
  std::vector<TorchState> states;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(TorchState state, ParseState(text));
    states.push_back(std::move(state));
  }
  return states;
}

absl::StatusOr<std::vector<TorchState>> ReadStates(
    ObjectReader& tensor, const std::vector<TorchState>& defaults) {
  if (tensor.Has("states")) {
    if (tensor.Has("state") || tensor.Has("dtype")) {
      return At(tensor, "states", "not beside state and dtype");
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                     Texts(tensor, "states"));
    ASSIGN_OR_RETURN(std::vector<TorchState> states, ParseStates(texts),
                     tensor.Path("states"));
    return states;
  }
  if (!tensor.Has("state") && !tensor.Has("dtype")) return defaults;
  TorchState state{.state = tensor.Text("state", "param")};
  ASSIGN_OR_RETURN(state.dtype,
                   vps::ParseDtype(tensor.Text("dtype", "float32")),
                   tensor.Path("dtype"));
  return std::vector<TorchState>{std::move(state)};
}

absl::StatusOr<std::vector<Cut>> ReadCuts(ObjectReader& tensor,
                                          const Mesh& mesh, int dims) {
  if (tensor.Has("splits")) {
    if (tensor.Has("placements")) {
      return At(tensor, "splits", "not beside placements");
    }
    vps::Sharding splits;
    for (ObjectReader& split : tensor.List("splits")) {
      split.Require({"axis", "dim"});
      split.AllowOnly({"axis", "dim"});
      splits.push_back({split.Text("axis"), static_cast<int>(split.Int(
                                                "dim", 0, vps::kMaxDims, 0))});
      RETURN_IF_ERROR(split.status());
    }
    return vps::CutsOfSplits(mesh, dims, splits);
  }
  if (!tensor.Has("placements")) return std::vector<Cut>();
  ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                   Texts(tensor, "placements"));
  std::vector<vps::DTensorPlacement> placements;
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSIGN_OR_RETURN(const vps::DTensorPlacement placement,
                     vps::ParseDTensorPlacement(texts[i]),
                     tensor.Path(absl::StrCat("placements[", i, "]")));
    placements.push_back(placement);
  }
  return vps::CutsOfPlacements(mesh, dims, placements);
}

absl::StatusOr<TorchTensor> ReadTensor(ObjectReader& reader,
                                       const TorchWorld& world,
                                       const std::vector<TorchState>& states) {
  reader.Require({"name", "shape"});
  reader.AllowOnly({"name", "shape", "states", "state", "dtype", "placements",
                    "splits", "stage", "stages"});
  TorchTensor tensor{.name = reader.Text("name"),
                     .shape = reader.Ints("shape", 0, kMaxExtent)};
  const std::vector<int64_t> stages =
      reader.Ints("stages", 0, vps::kMaxPipelineStages);
  tensor.stages.assign(stages.begin(), stages.end());
  if (reader.Has("stage")) {
    if (reader.Has("stages")) return At(reader, "stage", "not beside stages");
    tensor.stages = {
        static_cast<int>(reader.Int("stage", 0, vps::kMaxPipelineStages, 0))};
  }
  if (tensor.shape.size() > vps::kMaxDims) {
    return At(reader, "shape",
              absl::StrCat("has more than ", vps::kMaxDims, " dims"));
  }
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(tensor.states, ReadStates(reader, states));
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(
      tensor.cuts,
      ReadCuts(reader, world.mesh, static_cast<int>(tensor.shape.size())),
      absl::StrCat(reader.path(), " (", tensor.name, ")"));
  return tensor;
}

std::string NearestName(const std::string& name,
                        absl::Span<const TorchTensor> tensors) {
  std::vector<std::string> known;
  for (const TorchTensor& tensor : tensors) known.push_back(tensor.name);
  return DidYouMean(name, known);
}

}  // namespace

absl::StatusOr<TorchWorld> ReadTorchWorld(const ObjectReader& section,
                                          const TorchDefaults& defaults) {
  std::optional<Mesh> mesh = defaults.mesh;
  if (section.Has("mesh")) {
    ObjectReader reader = section;
    const std::string text = reader.Text("mesh");
    RETURN_IF_ERROR(reader.status());
    ASSIGN_OR_RETURN(mesh, ParseMesh(text), section.Path("mesh"));
  }
  if (!mesh.has_value()) {
    return At(section, "mesh",
              "is needed, such as dp2,tp4, if the file says no parallelism");
  }
  TorchWorld world{.mesh = *mesh};
  ASSIGN_OR_RETURN(world.pipeline, ReadPipeline(section, world.mesh));
  return world;
}

absl::StatusOr<std::vector<TorchTensor>> ReadTorchTensors(
    const ObjectReader& section, const TorchWorld& world,
    const TorchDefaults& defaults) {
  std::vector<TorchState> states = defaults.states;
  if (states.empty()) states.push_back({});
  ObjectReader reader = section;
  reader.Require({"tensors"});
  std::vector<TorchTensor> tensors;
  for (ObjectReader& entry : reader.List("tensors")) {
    ASSIGN_OR_RETURN(TorchTensor tensor, ReadTensor(entry, world, states));
    tensors.push_back(std::move(tensor));
  }
  RETURN_IF_ERROR(reader.status());
  return tensors;
}

absl::StatusOr<std::vector<int>> ReadAxes(const ObjectReader& object,
                                          absl::string_view key,
                                          const Mesh& mesh,
                                          std::vector<int> otherwise) {
  if (!object.Has(key)) return otherwise;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, Texts(object, key));
  std::vector<int> axes;
  for (size_t i = 0; i < names.size(); ++i) {
    ASSIGN_OR_RETURN(const int axis, AxisNamed(mesh, names[i]),
                     object.Path(absl::StrCat(key, "[", i, "]")));
    axes.push_back(axis);
  }
  return axes;
}

absl::StatusOr<std::vector<int>> ReadTensorNames(
    const ObjectReader& object, absl::string_view key,
    absl::Span<const TorchTensor> tensors) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, Texts(object, key));
  absl::flat_hash_map<absl::string_view, std::vector<int>> indices_of;
  for (size_t i = 0; i < tensors.size(); ++i) {
    indices_of[tensors[i].name].push_back(static_cast<int>(i));
  }
  std::vector<int> indices;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::vector<int>& found = indices_of[names[i]];
    if (found.size() != 1) {
      return At(
          object, absl::StrCat(key, "[", i, "]"),
          absl::StrCat("\"", names[i].substr(0, 256), "\" names ", found.size(),
                       " of the tensors; exactly one is needed",
                       found.empty() ? NearestName(names[i], tensors) : ""));
    }
    indices.push_back(found[0]);
  }
  return indices;
}

}  // namespace dynatrain::api
