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
// other rows, exchanged in grouped windows in lane 1; one tensor that each rank
// keeps; one that rank 0 has and that goes from rank to rank in lane 2. Limits
// are the peaks, so that no byte more fits.
Sample MakeSample(std::mt19937_64& random);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_SAMPLE_PROGRAMS_H_
