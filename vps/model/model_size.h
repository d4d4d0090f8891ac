// How many parameters a model has, from its config alone: closed forms, no list
// of tensors. Equal to the sums over TensorsOf (a property test).
#ifndef VPS_MODEL_MODEL_SIZE_H_
#define VPS_MODEL_MODEL_SIZE_H_

#include <cstdint>
#include <ostream>

#include "vps/model/model_config.h"

namespace dynatrain::vps {

// In elements.
struct ModelSize {
  // All but multi-token prediction: what publications call the model's size. A
  // tied output layer is not counted twice, vocabulary padding and buffers not
  // at all.
  int64_t main_parameters = 0;
  // The multi-token prediction layers (which share embedding and output layer
  // with the main model).
  int64_t mtp_parameters = 0;
  // Of both: those of routed experts.
  int64_t expert_parameters = 0;
  // Persistent buffers: the routers' corrections.
  int64_t main_buffers = 0;
  int64_t mtp_buffers = 0;

  int64_t parameters() const { return main_parameters + mtp_parameters; }

  friend bool operator==(const ModelSize&, const ModelSize&) = default;
};

// O(1), but for a hybrid's pattern, which is counted.
ModelSize SizeOf(const ModelConfig& config);

inline std::ostream& operator<<(std::ostream& out, const ModelSize& size) {
  return out << "main " << size.main_parameters << " + " << size.main_buffers
             << " in buffers, mtp " << size.mtp_parameters << " + "
             << size.mtp_buffers << ", in experts " << size.expert_parameters;
}

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_MODEL_SIZE_H_
