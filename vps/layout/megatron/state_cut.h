// The cut of one state of a tensor, as a Placement has it.
#ifndef VPS_LAYOUT_MEGATRON_STATE_CUT_H_
#define VPS_LAYOUT_MEGATRON_STATE_CUT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "vps/layout/megatron/tensor_parallel.h"
#include "vps/layout/placement.h"
#include "vps/model/model_tensor.h"
#include "vps/model/state_class.h"

namespace dynatrain::vps::megatron {

// The cut `how` of `tensor` in `pieces` over the mesh axis `axis`, in terms of
// the state's own shape: one block per part that is stacked along the dim.
// nullopt if the state is whole on each rank that has the tensor. Returns
// kInvalidArgument naming the tensor if a block of elements that share one
// number of the state (a scale) would be cut.
// REQUIRES: `pieces` divides the parts (CheckTensorParallel).
absl::StatusOr<std::optional<Cut>> CutOfState(const ModelTensor& tensor,
                                              const TensorCut& how,
                                              const StateClass& state, int axis,
                                              int pieces);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_STATE_CUT_H_
