#include "vps/model/state_class.h"

#include "absl/strings/str_cat.h"

namespace dynatrain::vps {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace

bool IsQuantized(const ModelTensor& tensor) {
  if (tensor.bias || !tensor.is_parameter()) return false;
  switch (tensor.role) {
    case Role::kAttentionOut:
    case Role::kQkv:
    case Role::kQ:
    case Role::kQDown:
    case Role::kQUp:
    case Role::kKvDown:
    case Role::kKvUp:
    case Role::kFc1:
    case Role::kFc2:
    case Role::kExpertFc1:
    case Role::kExpertFc2:
    case Role::kSharedFc1:
    case Role::kSharedFc2:
    case Role::kMambaIn:
    case Role::kMambaOut:
    case Role::kMtpProjection:
      return true;
    default:
      return false;
  }
}

bool HasState(const ModelTensor& tensor, const StateClass& state) {
  switch (state.owners) {
    case StateOwners::kParameters:
      return tensor.is_parameter();
    case StateOwners::kQuantized:
      return IsQuantized(tensor);
    case StateOwners::kUnquantized:
      return tensor.is_parameter() && !IsQuantized(tensor);
    case StateOwners::kBuffers:
      return !tensor.is_parameter();
  }
  return false;
}

absl::InlinedVector<int64_t, 3> StateShape(const ModelTensor& tensor,
                                           const StateClass& state) {
  const Granularity& granularity = state.granularity;
  switch (granularity.kind) {
    case Granularity::Kind::kElement:
      return tensor.shape;
    case Granularity::Kind::kTensor:
      return {1};
    case Granularity::Kind::kBlock:
      return {CeilDivide(tensor.shape[0], granularity.rows),
              CeilDivide(tensor.shape[1], granularity.columns)};
  }
  return {};
}

int64_t StateBytes(const ModelTensor& tensor, const StateClass& state) {
  if (!HasState(tensor, state)) return 0;
  int64_t elements = 1;
  for (const int64_t extent : StateShape(tensor, state)) elements *= extent;
  return elements * ItemBytes(state.dtype);
}

StateClass OrdinaryState(absl::string_view name, Dtype dtype) {
  StateClass state = {.name = std::string(name), .dtype = dtype};
  if (name == "param") state.placement = StatePlacement::kModel;
  if (name == "grad") state.placement = StatePlacement::kGradient;
  if (name == "buffer") {
    state.placement = StatePlacement::kModel;
    state.owners = StateOwners::kBuffers;
  }
  return state;
}

std::string StateText(const StateClass& state) {
  return absl::StrCat(state.name, ":", DtypeName(state.dtype));
}

}  // namespace dynatrain::vps
