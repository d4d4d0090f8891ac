// Which numbers of pods a layout exists for, and what becomes of a wish.
#ifndef OPERATOR_SOLVER_SIZES_H_
#define OPERATOR_SOLVER_SIZES_H_

#include <string>
#include <vector>

#include "api/job/spec.h"

namespace dynatrain::control {

// True if `replicas` pods have a layout.
bool IsFeasible(const api::JobSpec& spec, int replicas);

// The largest feasible size ≤ `limit` and ≥ `floor`; 0 if there is none.
int LargestFeasible(const api::JobSpec& spec, int floor, int limit);

// All feasible sizes from minReplicas to maxReplicas as people read them:
// "1, 2, 3, 4, 6"; five or more in a row are one range, "1-64, 66"; at most
// 20 entries, then "...". "none" if there is none.
std::string FeasibleReplicas(const api::JobSpec& spec);

struct SizeWish {
  int replicas = 0;     // to go for; 0: nothing can run
  bool granted = true;  // it is what the user asked for
  std::string reason;   // why not, and the nearest sizes that can
};

// What to do about spec.replicas. `current` is the size that was granted last
// (0: none yet), which a rejected wish leaves as it is.
SizeWish ResolveReplicas(const api::JobSpec& spec, int current);

}  // namespace dynatrain::control

#endif  // OPERATOR_SOLVER_SIZES_H_
