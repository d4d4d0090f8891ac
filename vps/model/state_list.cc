#include "vps/model/state_list.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace dynatrain::vps {
namespace {

constexpr absl::string_view kPresets[] = {
    "fp32", "bf16-mixed", "fp16-mixed", "precision-aware", "fp8", "fp8-block",
};

// Whether some tensor is among both owners.
bool Overlap(StateOwners a, StateOwners b) {
  if (a == b) return true;
  if (a == StateOwners::kBuffers || b == StateOwners::kBuffers) return false;
  return a == StateOwners::kParameters || b == StateOwners::kParameters;
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, 64)), "\"");
}

absl::Status CheckOne(const StateClass& state) {
  if (state.name.empty()) {
    return absl::InvalidArgumentError("states: a name is empty");
  }
  const Granularity& granularity = state.granularity;
  if (granularity.kind != Granularity::Kind::kBlock) return absl::OkStatus();
  if (granularity.rows < 1 || granularity.columns < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "states: ", Quoted(state.name), ": a block of ", granularity.rows,
        " x ", granularity.columns, "; both are at least 1"));
  }
  if (state.owners != StateOwners::kQuantized) {
    return absl::InvalidArgumentError(
        absl::StrCat("states: ", Quoted(state.name),
                     ": only the quantized matrices have blocks"));
  }
  return absl::OkStatus();
}

absl::Status CheckUnique(const std::vector<StateClass>& states) {
  for (size_t i = 0; i < states.size(); ++i) {
    for (size_t j = i + 1; j < states.size(); ++j) {
      if (states[i].name == states[j].name &&
          Overlap(states[i].owners, states[j].owners)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "states: ", Quoted(states[i].name), " is there twice"));
      }
    }
  }
  return absl::OkStatus();
}

// Every parameter has a "param".
absl::Status CheckParam(const std::vector<StateClass>& states) {
  bool quantized = false, unquantized = false;
  for (const StateClass& state : states) {
    if (state.name != "param") continue;
    const bool all = state.owners == StateOwners::kParameters;
    quantized |= all || state.owners == StateOwners::kQuantized;
    unquantized |= all || state.owners == StateOwners::kUnquantized;
  }
  if (quantized && unquantized) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "states: \"param\" is missing; add the weights, as \"param:bfloat16\"");
}

bool HasBuffer(const std::vector<StateClass>& states) {
  for (const StateClass& state : states) {
    if (state.owners == StateOwners::kBuffers) return true;
  }
  return false;
}

absl::StatusOr<StateClass> ParseOne(const std::string& text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "states: ", Quoted(text), " is not name:dtype, as \"main:float32\""));
  }
  ASSIGN_OR_RETURN(const Dtype dtype, ParseDtype(parts[1]),
                   absl::StrCat("states: ", Quoted(text)));
  return OrdinaryState(parts[0], dtype);
}

std::vector<StateClass> Ordinary(
    const std::vector<std::pair<absl::string_view, Dtype>>& list) {
  std::vector<StateClass> states;
  for (const auto& [name, dtype] : list) {
    states.push_back(OrdinaryState(name, dtype));
  }
  return states;
}

std::vector<StateClass> Mixed(Dtype param) {
  return Ordinary({{"param", param},
                   {"main", Dtype::kFloat32},
                   {"exp_avg", Dtype::kFloat32},
                   {"exp_avg_sq", Dtype::kFloat32}});
}

std::vector<StateClass> Float8(Granularity granularity) {
  std::vector<StateClass> states = Mixed(Dtype::kBfloat16);
  states[0].owners = StateOwners::kUnquantized;
  const StateClass codes = {.name = "param",
                            .dtype = Dtype::kUint8,
                            .placement = StatePlacement::kModel,
                            .owners = StateOwners::kQuantized};
  const StateClass scales = {.name = "scale_inv",
                             .dtype = Dtype::kFloat32,
                             .placement = StatePlacement::kModel,
                             .owners = StateOwners::kQuantized,
                             .granularity = granularity};
  states.insert(states.begin(), {codes, scales});
  return states;
}

}  // namespace

absl::StatusOr<StateList> StateList::Create(std::vector<StateClass> states) {
  for (const StateClass& state : states) RETURN_IF_ERROR(CheckOne(state));
  if (!HasBuffer(states)) {
    states.push_back(OrdinaryState("buffer", Dtype::kFloat32));
  }
  RETURN_IF_ERROR(CheckUnique(states));
  RETURN_IF_ERROR(CheckParam(states));
  return StateList(std::move(states));
}

absl::StatusOr<StateList> StateList::Parse(
    absl::Span<const std::string> texts) {
  std::vector<StateClass> states;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(StateClass state, ParseOne(text));
    states.push_back(std::move(state));
  }
  return Create(std::move(states));
}

absl::StatusOr<StateList> StateList::Preset(absl::string_view name) {
  if (name == "fp32") {
    return Create(Ordinary({{"param", Dtype::kFloat32},
                            {"exp_avg", Dtype::kFloat32},
                            {"exp_avg_sq", Dtype::kFloat32}}));
  }
  if (name == "bf16-mixed") return Create(Mixed(Dtype::kBfloat16));
  if (name == "fp16-mixed") return Create(Mixed(Dtype::kFloat16));
  if (name == "precision-aware") {
    return Create(Ordinary({{"param", Dtype::kBfloat16},
                            {"main", Dtype::kInt16},
                            {"exp_avg", Dtype::kBfloat16},
                            {"exp_avg_sq", Dtype::kBfloat16}}));
  }
  if (name == "fp8") return Create(Float8(Granularity::PerTensor()));
  if (name == "fp8-block") {
    return Create(Float8(Granularity::PerBlock(128, 128)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("states: ", Quoted(name), " is no preset; there are ",
                   absl::StrJoin(kPresets, ", ")));
}

std::vector<absl::string_view> StateList::PresetNames() {
  return {std::begin(kPresets), std::end(kPresets)};
}

int64_t StateList::Bytes(const ModelTensor& tensor,
                         StatePlacement placement) const {
  int64_t bytes = 0;
  for (const StateClass& state : states_) {
    if (state.placement == placement) bytes += StateBytes(tensor, state);
  }
  return bytes;
}

std::string StateList::DebugString() const {
  return absl::StrJoin(states_, ", ",
                       [](std::string* out, const StateClass& state) {
                         absl::StrAppend(out, StateText(state));
                       });
}

}  // namespace dynatrain::vps
