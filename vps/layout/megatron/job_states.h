// What Megatron asks of the states of a job, and which of them share a buffer.
#ifndef VPS_LAYOUT_MEGATRON_JOB_STATES_H_
#define VPS_LAYOUT_MEGATRON_JOB_STATES_H_

#include "absl/status/status.h"
#include "vps/layout/megatron/megatron_config.h"
#include "vps/model/dtype.h"
#include "vps/model/model_tensor.h"
#include "vps/model/state_list.h"

namespace dynatrain::vps::megatron {

// kInvalidArgument naming the state for a float32 master of parameters that
// are float32 themselves, which Megatron doesn't keep; and for one of Adam's
// states in another dtype than float32 without precision_aware_optimizer.
absl::Status CheckStates(const StateList& states, const MegatronConfig& config);

// The dtype of the parameter buffer that a parameter is in: its own, or uint8
// for 8-bit codes, whatever they mean. float32 if there is no "param".
Dtype BufferDtype(const ModelTensor& tensor, const StateList& states);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_JOB_STATES_H_
