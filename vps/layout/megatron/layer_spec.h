// Which modules a layer is made of (Megatron's --transformer-impl): their own,
// or Transformer Engine's, which fuse a norm into the linear layer after it.
#ifndef VPS_LAYOUT_MEGATRON_LAYER_SPEC_H_
#define VPS_LAYOUT_MEGATRON_LAYER_SPEC_H_

#include <cstdint>

namespace dynatrain::vps::megatron {

enum class LayerSpec : uint8_t {
  kLocal,              // get_gpt_layer_local_spec
  kTransformerEngine,  // get_gpt_layer_with_transformer_engine_spec
};

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_LAYER_SPEC_H_
