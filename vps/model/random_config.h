// Random model configs for property tests: every feature on and off, small
// sizes, all valid; and smaller ones, for base/shrink.h.
#ifndef VPS_MODEL_RANDOM_CONFIG_H_
#define VPS_MODEL_RANDOM_CONFIG_H_

#include <random>
#include <vector>

#include "vps/model/model_config.h"

namespace dynatrain::vps {

ModelConfig RandomConfig(std::mt19937_64& random);

// Every valid config that is one step smaller: without a part, a feature or a
// layer, or with a number (or two that go together) 1, halved or one lower.
std::vector<ModelConfig> SmallerConfigs(const ModelConfig& config);

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_RANDOM_CONFIG_H_
