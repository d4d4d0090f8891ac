// The tensors of a model, from its config.
//
// The order is that in which Megatron-Core 0.16.1 declares them when no two
// modules are fused (its local specs, SequentialMLP for experts): embeddings,
// layers, final norm, multi-token prediction, output layer; inside attention
// the output projection comes before qkv, because the base class builds it
// first. A mapping whose framework or layer spec declares them otherwise sorts
// them by role. Buffers stand where their module declares them.
#ifndef VPS_MODEL_MODEL_TENSORS_H_
#define VPS_MODEL_MODEL_TENSORS_H_

#include <vector>

#include "vps/model/model_config.h"
#include "vps/model/model_tensor.h"

namespace dynatrain::vps {

// All of them, names unique. O(tensors).
std::vector<ModelTensor> TensorsOf(const ModelConfig& config);

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_MODEL_TENSORS_H_
