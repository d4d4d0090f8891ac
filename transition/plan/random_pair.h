// Random pairs of worlds of any layouts for property tests, and smaller ones.
#ifndef TRANSITION_PLAN_RANDOM_PAIR_H_
#define TRANSITION_PLAN_RANDOM_PAIR_H_

#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/random_case.h"
#include "vps/layout/random_layout.h"

namespace dynatrain::transition {

// All that a PlanInput is made of. The layouts have the same tensors, up to
// padding.
struct PairCase {
  struct Side {
    vps::LayoutCase layout;
    std::vector<uint64_t> ids;  // one per rank
  };

  Side source;
  Side target;
  int ranks_per_member = 1;  // the member of process id is id / this
  // Where processes run, in the same way; 0: it isn't known.
  int ranks_per_device = 0;
  int ranks_per_node = 0;
  int rails = 0;  // the rail is id modulo this
  int64_t min_sender_bytes = 1;
  int max_senders = 1;
  bool balanced = false;  // made by MakePlanInput
};

// Any two layouts: two meshes, located, cut in blocks, flattened, copied and
// padded tensors; worlds of up to so many ranks with all, some or no processes
// in common.
PairCase RandomPair(std::mt19937_64& random, int max_ranks = 12);

// The process with that id.
Process ProcessOf(const PairCase& pair, uint64_t id);

// Worlds of up to 60 ranks that are mostly replicas of each other, as many as
// any number: a mesh of replicas and parts, tensors that are cut or flattened
// over the parts, or not at all.
PairCase ReplicatedPair(std::mt19937_64& random);

// The same case, of layouts with one box per rank and tensor.
PairCase PairOf(const PlanCase& plan_case);

absl::StatusOr<PlanInput> MakeInput(const PairCase& pair);

// Every pair that is a little smaller, for base/shrink.h.
std::vector<PairCase> SmallerPairs(const PairCase& pair);

std::ostream& operator<<(std::ostream& out, const PairCase& pair);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_RANDOM_PAIR_H_
