#include "vps/layout/megatron/state_cut.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::vps::megatron {
namespace {

using Extents = absl::InlinedVector<int64_t, 5>;

// Makes extents in elements such in blocks of `step`.
absl::Status ToBlocks(const ModelTensor& tensor, const StateClass& state,
                      int64_t step, int pieces, Extents& extents) {
  for (int64_t& extent : extents) {
    if (extent % (step * pieces) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          tensor.name, ": ", extent, " cut in ", pieces,
          " pieces would cut through blocks of ", step, " of ",
          StateText(state), "; multiples of ", step * pieces, " would not"));
    }
    extent /= step;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<Cut>> CutOfState(const ModelTensor& tensor,
                                              const TensorCut& how,
                                              const StateClass& state, int axis,
                                              int pieces) {
  const Granularity& granularity = state.granularity;
  if (how.axis == TensorAxis::kNone || pieces == 1 ||
      granularity.kind == Granularity::Kind::kTensor) {
    return std::nullopt;
  }
  Extents extents = {tensor.shape[how.dim]};
  if (how.dim == 0) extents = tensor.blocks;
  if (granularity.kind == Granularity::Kind::kBlock) {
    RETURN_IF_ERROR(ToBlocks(
        tensor, state, how.dim == 0 ? granularity.rows : granularity.columns,
        pieces, extents));
  }
  Cut cut = {.group = {.axes = {axis}}, .dim = how.dim};
  if (std::adjacent_find(extents.begin(), extents.end(),
                         std::not_equal_to<>()) == extents.end()) {
    cut.num_blocks = static_cast<int>(extents.size());
  } else {
    cut.block_extents.assign(extents.begin(), extents.end());
  }
  return cut;
}

}  // namespace dynatrain::vps::megatron
