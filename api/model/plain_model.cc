#include "api/model/plain_model.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/model/field_reader.h"
#include "base/status_macros.h"
#include "vps/model/families.h"
#include "vps/model/presets.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;
using vps::ExpertNumbers;
using vps::LatentNumbers;
using vps::MambaNumbers;
using vps::ModelNumbers;
using vps::Norm;

// Visits every field of a group with its name: the one list that reading and
// writing share.
template <typename Visitor>
void VisitFields(Visitor& v, ExpertNumbers& e) {
  v("count", e.count);
  v("ffn", e.ffn);
  v("shared_ffn", e.shared_ffn);
  v("shared_gate", e.shared_gate);
  v("correction", e.correction);
  v("first_dense", e.first_dense);
  v("frequency", e.frequency);
  v("phase", e.phase);
}

template <typename Visitor>
void VisitFields(Visitor& v, LatentNumbers& l) {
  v("q_rank", l.q_rank);
  v("kv_rank", l.kv_rank);
  v("nope_dim", l.nope_dim);
  v("rope_dim", l.rope_dim);
  v("v_dim", l.v_dim);
}

template <typename Visitor>
void VisitFields(Visitor& v, MambaNumbers& m) {
  v("pattern", m.pattern);
  v("heads", m.heads);
  v("head_dim", m.head_dim);
  v("groups", m.groups);
  v("state", m.state);
  v("convolution", m.convolution);
  v("convolution_bias", m.convolution_bias);
}

template <typename Visitor>
void VisitFields(Visitor& v, ModelNumbers& n) {
  v("hidden", n.hidden);
  v("layers", n.layers);
  v("heads", n.heads);
  v("query_groups", n.query_groups);
  v("head_dim", n.head_dim);
  v("ffn", n.ffn);
  v("vocabulary", n.vocabulary);
  v("positions", n.positions);
  v("mtp_layers", n.mtp_layers);
  v("norm", n.norm);
  v("tied", n.tied);
  v("gated", n.gated);
  v("bias", n.bias);
  v("qkv_bias", n.qkv_bias);
  v("qk_norm", n.qk_norm);
  v("output_gate", n.output_gate);
  v("experts", n.experts);
  v("latent", n.latent);
  v("mamba", n.mamba);
}

// Replaces what is written; the value that is there is the default.
struct Reading {
  FieldReader& fields;

  void operator()(const char* key, int64_t& value) {
    value = fields.Size(key, value);
  }
  void operator()(const char* key, bool& value) {
    value = fields.Bool(key, value);
  }
  void operator()(const char* key, std::string& value) {
    value = fields.Text(key, value);
  }
  void operator()(const char* key, Norm& value) {
    if (!fields.Has(key)) return;
    value =
        fields.Choice(key, {"rms", "layer"}) == 0 ? Norm::kRms : Norm::kLayer;
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (!fields.Has(key)) return;
    FieldReader nested = fields.Object(key);
    if (!value.has_value()) value.emplace();
    Reading reading{nested};
    VisitFields(reading, *value);
    fields.Merge(nested.Finish());
  }
};

struct Writing {
  Json& out;

  template <typename T>
  void operator()(const char* key, T& value) {
    out[key] = value;
  }
  void operator()(const char* key, Norm& value) {
    out[key] = value == Norm::kRms ? "rms" : "layer";
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (!value.has_value()) return;
    Json nested = Json::object();
    Writing writing{nested};
    VisitFields(writing, *value);
    out[key] = std::move(nested);
  }
};

// The numbers that the others replace.
absl::StatusOr<ModelNumbers> Base(FieldReader& fields) {
  const bool has_family = fields.Has("family");
  if (has_family == fields.Has("preset")) {
    return absl::InvalidArgumentError(absl::StrCat(
        fields.Path("family"), has_family
                                   ? ": cannot stand beside preset; use one"
                                   : ": is missing, and so is preset"));
  }
  const char* key = has_family ? "family" : "preset";
  const std::string name = fields.Text(key);
  if (name.empty()) {
    fields.Refuse(key, "is not a name");
    return fields.Finish();
  }
  if (has_family) {
    ASSIGN_OR_RETURN(const vps::Family family, vps::ParseFamily(name),
                     fields.Path(key));
    return vps::FamilyFeatures(family);
  }
  ASSIGN_OR_RETURN(const vps::ModelConfig config, vps::Preset(name),
                   fields.Path(key));
  return config.numbers();
}

}  // namespace

absl::StatusOr<vps::ModelConfig> ReadPlainModel(const Json& model,
                                                const std::string& path) {
  FieldReader fields(model, path);
  if (!model.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not an object, as {\"family\": \"llama\", ",
                     "\"hidden\": 64, ...}"));
  }
  ASSIGN_OR_RETURN(ModelNumbers numbers, Base(fields));
  Reading reading{fields};
  VisitFields(reading, numbers);
  RETURN_IF_ERROR(fields.Finish());
  auto config = vps::ModelConfig::Create(std::move(numbers));
  if (!config.ok()) return WithContext(std::move(config).status(), path);
  return config;
}

Json WritePlainModel(const vps::ModelConfig& config) {
  // Llama has no part that the numbers could not take away.
  Json out = {{"family", "llama"}};
  ModelNumbers numbers = config.numbers();
  Writing writing{out};
  VisitFields(writing, numbers);
  return out;
}

}  // namespace dynatrain::api
