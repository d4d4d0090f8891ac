// Right programs of small random worlds, made by the plainest planner there is,
// for tests that break them.
#ifndef TRANSITION_CHECK_SAMPLE_PROGRAMS_H_
#define TRANSITION_CHECK_SAMPLE_PROGRAMS_H_

#include <random>
#include <vector>

#include "transition/check/claims.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

struct Sample {
  Claims claims;
  std::vector<Program> programs;
};

// 3 to 6 ranks; matrices that are cut by rows and become cut by columns or by
// other rows, some as a second copy, exchanged in grouped windows in lane 1;
// one tensor that each rank keeps, and copies; one that each keeps and pads
// with zeros; one that rank 0 has and that goes from rank to rank in lane 2;
// one that goes from rank 0 through a buffer of rank 1 to rank 2 in lane 3.
// Limits are the peaks, so that no byte more fits. Numbers of what is in every
// sample.
inline constexpr int kKeptTensor = 0;
inline constexpr int kChainedTensor = 1;
inline constexpr int kHandedTensor = 2;
inline constexpr int kPaddedTensor = 3;
inline constexpr int kChainChannel = 1;
inline constexpr int kHandChannel = 3;
inline constexpr int kHandBuffer = 7;

Sample MakeSample(std::mt19937_64& random);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_SAMPLE_PROGRAMS_H_
