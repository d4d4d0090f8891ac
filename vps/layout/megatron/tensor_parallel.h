// Which dim of a tensor Megatron's tensor parallelism cuts, and over which
// ranks: a column-parallel layer by rows, a row-parallel one by columns (its
// bias is whole everywhere), experts over etp, all else over tp or not at all.
// The parts that are cut each by itself (gate and up; Mamba's z, x, B, C, dt)
// are the tensor's `blocks`.
//
// qkv is one block: its rows stand by query group, and with fewer groups than
// tp the cut goes through a group.
// Source: core/tensor_parallel/layers.py, transformer/attention.py, mlp.py,
// multi_latent_attention.py, moe/, ssm/mamba_mixer.py (Megatron-Core 0.16.1).
#ifndef VPS_LAYOUT_MEGATRON_TENSOR_PARALLEL_H_
#define VPS_LAYOUT_MEGATRON_TENSOR_PARALLEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "vps/layout/megatron/layer_spec.h"
#include "vps/model/model_config.h"
#include "vps/model/model_tensor.h"

namespace dynatrain::vps::megatron {

enum class TensorAxis : uint8_t {
  kNone,          // whole on every rank
  kTensor,        // tp
  kExpertTensor,  // etp
};

struct TensorCut {
  TensorAxis axis = TensorAxis::kNone;
  int dim = 0;  // of an axis other than kNone
  friend bool operator==(const TensorCut&, const TensorCut&) = default;
};

TensorCut CutOf(const ModelTensor& tensor, LayerSpec spec);

struct TensorSizes {
  int64_t tp = 1;
  int64_t etp = 1;
  int64_t ep = 1;
};

// OK if each rank gets the same share: kInvalidArgument naming the field, its
// value and the nearest valid ones if tp does not divide heads or Mamba's
// groups, query groups neither divide nor are divided by tp, ep does not divide
// the experts (or is above 1 without any), experts have biases and etp is above
// 1, or tp or etp does not divide a block of a tensor that it cuts. `tensors`
// are TensorsOf(config); vocabulary tensors are left out, since they are
// padded.
absl::Status CheckTensorParallel(const ModelConfig& config,
                                 absl::Span<const ModelTensor> tensors,
                                 LayerSpec spec, const TensorSizes& sizes);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_TENSOR_PARALLEL_H_
