// What a person should look at before deciding for a transition.
#ifndef TRANSITION_PREVIEW_WARNINGS_H_
#define TRANSITION_PREVIEW_WARNINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "transition/preview/preview.h"

namespace dynatrain::transition {

struct Warning {
  // "nic-bottleneck": for programs, stays the same.
  std::string code;
  // With the figures that made it; for people, on one line.
  std::string text;
  friend bool operator==(const Warning&, const Warning&) = default;
};

// From which on something is worth a warning, in thousandths.
struct WarningThresholds {
  int64_t bottleneck_permille = 2000;  // time of NICs / of links inside nodes
  int64_t unbalanced_permille = 2000;  // busiest sender / mean of senders
  int64_t own_nic_permille = 1200;     // own NICs / all of the node
  int64_t replicated_permille = 2000;  // moved / the state's own bytes
};

// In a fixed order, none twice:
//   nic-bottleneck       NICs take longer than links inside nodes
//   nic-imbalance        some NICs of a node are much busier than others
//   unbalanced-sender    one rank sends far more than the mean
//   replicated-state     a state moves several times, to each replica
//   xor-above-bound      a lane has only XOR, and that is far from the bound
//   moved-above-minimum  bytes go more than once
//   memory-unknown       no limit, or no stages: it may not fit
//   tight-mode           a failure can't fall back to the old state
std::vector<Warning> WarningsOf(const Preview& preview,
                                const WarningThresholds& thresholds = {});

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_WARNINGS_H_
