// Random model configs for property tests: every feature on and off, small
// sizes, all valid.
#ifndef VPS_MODEL_RANDOM_CONFIG_H_
#define VPS_MODEL_RANDOM_CONFIG_H_

#include <random>

#include "vps/model/model_config.h"

namespace dynatrain::vps {

ModelConfig RandomConfig(std::mt19937_64& random);

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_RANDOM_CONFIG_H_
