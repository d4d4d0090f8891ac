// Random tiny Megatron jobs for property tests: all features on and off, all
// valid.
#ifndef VPS_LAYOUT_MEGATRON_RANDOM_JOB_H_
#define VPS_LAYOUT_MEGATRON_RANDOM_JOB_H_

#include <random>

#include "vps/layout/megatron/megatron_config.h"
#include "vps/model/model_config.h"

namespace dynatrain::vps::megatron {

struct RandomJob {
  ModelConfig model;
  MegatronConfig config;
};

// At most 48 ranks.
RandomJob MakeRandomJob(std::mt19937_64& random);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_RANDOM_JOB_H_
