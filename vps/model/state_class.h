// StateClass: one kind of state that the tensors of a job have (weight, fp32
// master, Adam's moments, ...): its dtype, which tensors have it, its shape and
// which part of a layout places it.
#ifndef VPS_MODEL_STATE_CLASS_H_
#define VPS_MODEL_STATE_CLASS_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "vps/model/dtype.h"
#include "vps/model/model_tensor.h"

namespace dynatrain::vps {

// Who decides where a rank's share of the state lies.
enum class StatePlacement : uint8_t {
  kModel,      // where the model computes: weights, buffers
  kGradient,   // where gradients are reduced to (ZeRO-2: the owner alone)
  kOptimizer,  // where the optimizer steps: a ZeRO shard, if there are any
};

// Which tensors have the state.
enum class StateOwners : uint8_t {
  kParameters,   // all
  kQuantized,    // the parameters that IsQuantized
  kUnquantized,  // the other parameters
  kBuffers,      // the persistent buffers
};

// Whether 8-bit training keeps the tensor in 8 bits: the weights of the linear
// layers inside transformer and Mamba layers. Embeddings, output layer,
// routers, norms and biases stay wide.
bool IsQuantized(const ModelTensor& tensor);

// How many elements of the tensor share one of the state.
struct Granularity {
  enum class Kind : uint8_t {
    kElement,  // as many, same shape
    kTensor,   // one for all: shape [1]
    kBlock,    // one per block of a matrix: [ceil(r / rows), ceil(c / columns)]
  };
  Kind kind = Kind::kElement;
  int64_t rows = 0, columns = 0;  // of a block

  static Granularity PerTensor() { return {Kind::kTensor}; }
  static Granularity PerBlock(int64_t rows, int64_t columns) {
    return {Kind::kBlock, rows, columns};
  }

  friend bool operator==(const Granularity&, const Granularity&) = default;
};

struct StateClass {
  // "param", "main", "exp_avg", "exp_avg_sq", "grad", "scale_inv", "buffer", or
  // the optimizer's own key.
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  StatePlacement placement = StatePlacement::kOptimizer;
  StateOwners owners = StateOwners::kParameters;
  Granularity granularity;

  friend bool operator==(const StateClass&, const StateClass&) = default;
};

bool HasState(const ModelTensor& tensor, const StateClass& state);

// The whole shape of the state of `tensor`; blocks are counted in the whole
// tensor, so a layout that cuts inside a block has no exact cut of the scales.
// REQUIRES: HasState(tensor, state).
absl::InlinedVector<int64_t, 3> StateShape(const ModelTensor& tensor,
                                           const StateClass& state);

// 0 if the tensor does not have the state.
int64_t StateBytes(const ModelTensor& tensor, const StateClass& state);

// What a state of this name and dtype is in every framework: "buffer" of the
// buffers, placed with the model like "param"; "grad" with the gradients; any
// other of all parameters, with the optimizer.
StateClass OrdinaryState(absl::string_view name, Dtype dtype);

// "param:bfloat16".
std::string StateText(const StateClass& state);

inline std::ostream& operator<<(std::ostream& out, const StateClass& state) {
  return out << StateText(state);
}

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_STATE_CLASS_H_
