// Traffic to try schedules on: the 17 patterns of the founders' study
// (sched.cpp) and random skewed ones. For tests and benchmarks.
#ifndef TRANSITION_SCHEDULE_TRAFFIC_PATTERNS_H_
#define TRANSITION_SCHEDULE_TRAFFIC_PATTERNS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct NamedTraffic {
  std::string name;
  Traffic traffic;
};

// All ranks send each other the same.
Traffic UniformTraffic(int num_ranks, int64_t bytes);

// Each rank sends about `peers` others something between 1x and 2x `bytes`.
Traffic SparseTraffic(int num_ranks, int peers, int64_t bytes,
                      std::mt19937_64& random);

// The 17: uniform, random, heavy-tailed and sparse at 16, 48 and 64 ranks;
// ZeRO shards 64 -> 48, 48 -> 64, 64 -> 60; TP8 x DP8 -> TP4 x DP16 cut along
// one dim and along two. A unit of theirs is `unit_bytes`.
std::vector<NamedTraffic> StudyPatterns(int64_t unit_bytes);

// 2 to max_ranks ranks; how full, how skewed, whether a few ranks are hot, and
// the sizes (bytes to GiB) are drawn too.
Traffic RandomSkewedTraffic(int max_ranks, std::mt19937_64& random);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_TRAFFIC_PATTERNS_H_
