#include "api/manifest/json_codec.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/box.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVersion = 1;
// Arrays, objects and their nesting that the parser accepts: tensors > tensor >
// splits > split.
constexpr int kMaxDepth = 5;

absl::Status Invalid(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, 64)), "\"");
}

// That `json` is an object with these fields and no other.
absl::Status CheckFields(const Json& json,
                         std::initializer_list<absl::string_view> fields) {
  if (!json.is_object()) {
    return Invalid(absl::StrCat("is ", json.type_name(), ", not an object"));
  }
  for (absl::string_view field : fields) {
    if (!json.contains(std::string(field))) {
      return Invalid(absl::StrCat("field \"", field, "\" is missing"));
    }
  }
  for (const auto& item : json.items()) {
    if (std::find(fields.begin(), fields.end(), item.key()) == fields.end()) {
      return Invalid(absl::StrCat("field ", Quoted(item.key()),
                                  " is unknown; the fields are ",
                                  absl::StrJoin(fields, ", ")));
    }
  }
  return absl::OkStatus();
}

// The typed getters of nlohmann throw or convert silently; these do neither.
absl::StatusOr<std::string> ReadString(const Json& json,
                                       absl::string_view field) {
  if (!json.is_string()) {
    return Invalid(
        absl::StrCat(field, " is ", json.type_name(), ", not a string"));
  }
  return *json.get_ptr<const std::string*>();
}

absl::StatusOr<int64_t> ReadInteger(const Json& json, absl::string_view field) {
  if (const auto* number = json.get_ptr<const uint64_t*>()) {
    if (*number <= std::numeric_limits<int64_t>::max()) {
      return static_cast<int64_t>(*number);
    }
    return Invalid(absl::StrCat(field, " is ", *number, ", beyond 63 bits"));
  }
  if (const auto* number = json.get_ptr<const int64_t*>()) return *number;
  return Invalid(absl::StrCat(
      field, " is ", json.is_number() ? "no whole number" : json.type_name(),
      json.is_number() ? "" : ", not a whole number"));
}

absl::StatusOr<std::vector<int64_t>> ReadShape(const Json& json) {
  if (!json.is_array()) {
    return Invalid(absl::StrCat("shape is ", json.type_name(),
                                ", not an array of whole numbers"));
  }
  std::vector<int64_t> shape;
  for (size_t dim = 0; dim < json.size(); ++dim) {
    ASSIGN_OR_RETURN(const int64_t extent,
                     ReadInteger(json[dim], absl::StrCat("shape[", dim, "]")));
    shape.push_back(extent);
  }
  return shape;
}

absl::StatusOr<vps::Split> ReadSplit(const Json& json) {
  RETURN_IF_ERROR(CheckFields(json, {"axis", "dim"}));
  vps::Split split;
  ASSIGN_OR_RETURN(split.axis, ReadString(json["axis"], "axis"));
  ASSIGN_OR_RETURN(const int64_t dim, ReadInteger(json["dim"], "dim"));
  if (dim < 0 || dim >= vps::kMaxDims) {
    return Invalid(
        absl::StrCat("dim is ", dim, "; it lies in 0..", vps::kMaxDims - 1));
  }
  split.dim = static_cast<int>(dim);
  return split;
}

absl::StatusOr<vps::Sharding> ReadSharding(const Json& json) {
  if (!json.is_array()) {
    return Invalid(absl::StrCat("splits is ", json.type_name(),
                                ", not an array of {axis, dim}"));
  }
  vps::Sharding sharding;
  for (size_t i = 0; i < json.size(); ++i) {
    ASSIGN_OR_RETURN(vps::Split split, ReadSplit(json[i]),
                     absl::StrCat("splits[", i, "]"));
    sharding.push_back(std::move(split));
  }
  return sharding;
}

absl::StatusOr<vps::ManifestTensor> ReadNamedTensor(const Json& json,
                                                    std::string name) {
  ASSIGN_OR_RETURN(std::string state, ReadString(json["state"], "state"));
  ASSIGN_OR_RETURN(const std::string dtype_name,
                   ReadString(json["dtype"], "dtype"));
  ASSIGN_OR_RETURN(const vps::Dtype dtype, vps::ParseDtype(dtype_name));
  ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ReadShape(json["shape"]));
  ASSIGN_OR_RETURN(vps::Sharding sharding, ReadSharding(json["splits"]));
  ASSIGN_OR_RETURN(
      vps::TensorSpec spec,
      vps::TensorSpec::Create(std::move(name), std::move(state), dtype, shape));
  // Here too, not only in Manifest::Create, so that the error has the index.
  RETURN_IF_ERROR(vps::ValidateSharding(sharding, spec.whole().dims()));
  return vps::ManifestTensor{std::move(spec), std::move(sharding)};
}

absl::StatusOr<vps::ManifestTensor> ReadTensor(const Json& json) {
  RETURN_IF_ERROR(
      CheckFields(json, {"name", "state", "dtype", "shape", "splits"}));
  ASSIGN_OR_RETURN(std::string name, ReadString(json["name"], "name"));
  ASSIGN_OR_RETURN(vps::ManifestTensor tensor, ReadNamedTensor(json, name),
                   Quoted(name));
  return tensor;
}

absl::StatusOr<vps::Manifest> ReadManifest(const Json& json) {
  RETURN_IF_ERROR(CheckFields(json, {"version", "tensors"}));
  ASSIGN_OR_RETURN(const int64_t version,
                   ReadInteger(json["version"], "version"));
  if (version != kVersion) {
    return Invalid(absl::StrCat("version is ", version, "; only ", kVersion,
                                " is understood"));
  }
  const Json& tensors = json["tensors"];
  if (!tensors.is_array()) {
    return Invalid(
        absl::StrCat("tensors is ", tensors.type_name(), ", not an array"));
  }
  if (tensors.size() > kMaxManifestTensors) {
    return Invalid(absl::StrCat("there are ", tensors.size(),
                                " tensors; at most ", kMaxManifestTensors));
  }
  std::vector<vps::ManifestTensor> entries;
  entries.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    ASSIGN_OR_RETURN(vps::ManifestTensor entry, ReadTensor(tensors[i]),
                     absl::StrCat("tensors[", i, "]"));
    entries.push_back(std::move(entry));
  }
  return vps::Manifest::Create(std::move(entries));
}

}  // namespace

std::string EncodeManifest(const vps::Manifest& manifest) {
  ordered_json tensors = ordered_json::array();
  for (const vps::ManifestTensor& tensor : manifest.tensors()) {
    ordered_json splits = ordered_json::array();
    for (const vps::Split& split : tensor.sharding) {
      splits.push_back({{"axis", split.axis}, {"dim", split.dim}});
    }
    ordered_json shape = ordered_json::array();
    for (int64_t extent : tensor.spec.shape()) shape.push_back(extent);
    tensors.push_back({{"name", tensor.spec.name()},
                       {"state", tensor.spec.state()},
                       {"dtype", std::string(DtypeName(tensor.spec.dtype()))},
                       {"shape", std::move(shape)},
                       {"splits", std::move(splits)}});
  }
  const ordered_json json = {{"version", kVersion},
                             {"tensors", std::move(tensors)}};
  // Names that are no UTF-8 can't come from JSON, but could from a caller.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<vps::Manifest> DecodeManifest(absl::string_view text) {
  if (text.size() > kMaxManifestBytes) {
    return Invalid(absl::StrCat("manifest: ", text.size(), " bytes; at most ",
                                kMaxManifestBytes));
  }
  // Nesting is cut while parsing: destroying a deep value recurses.
  bool too_deep = false;
  const Json json = Json::parse(
      text.begin(), text.end(),
      [&](int depth, Json::parse_event_t, Json&) {
        too_deep = too_deep || depth > kMaxDepth;
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  if (too_deep) return Invalid("manifest: nested too deep");
  if (json.is_discarded()) return Invalid("manifest: the text is no JSON");
  absl::StatusOr<vps::Manifest> manifest = ReadManifest(json);
  RETURN_IF_ERROR(manifest.status(), "manifest");
  return manifest;
}

}  // namespace dynatrain::api
