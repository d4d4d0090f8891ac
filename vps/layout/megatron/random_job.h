// Random tiny Megatron jobs for property tests: all features on and off, all
// valid; and smaller ones, for base/shrink.h.
#ifndef VPS_LAYOUT_MEGATRON_RANDOM_JOB_H_
#define VPS_LAYOUT_MEGATRON_RANDOM_JOB_H_

#include <ostream>
#include <random>
#include <vector>

#include "vps/layout/megatron/megatron_config.h"
#include "vps/model/model_config.h"

namespace dynatrain::vps::megatron {

struct RandomJob {
  ModelConfig model;
  MegatronConfig config;
};

// At most 48 ranks.
RandomJob MakeRandomJob(std::mt19937_64& random);

// Every valid job that is one step smaller: its ranks, then its options, then
// its model (SmallerConfigs).
std::vector<RandomJob> SmallerJobs(const RandomJob& job);

std::ostream& operator<<(std::ostream& out, const RandomJob& job);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_RANDOM_JOB_H_
