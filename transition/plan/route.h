// Route: a box of one tensor that goes from one rank of the source world to one
// rank of the target world. Both are the same process for what it keeps.
#ifndef TRANSITION_PLAN_ROUTE_H_
#define TRANSITION_PLAN_ROUTE_H_

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>

#include "transition/plan/plan_input.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

struct Route {
  int tensor = 0;   // index into the input's tensors
  vps::Box region;  // in the whole tensor; never empty
  int source_rank = 0;
  int target_rank = 0;
  // Of the copies that the ranks hold (vps::Layout), those that are meant.
  int source_copy = 0;
  int target_copy = 0;

  // By tensor, then region: the order in which the bytes of a pair of processes
  // lie on the wire, the same at both ends.
  friend auto operator<=>(const Route&, const Route&) = default;
  friend bool operator==(const Route&, const Route&) = default;

  // "layers.0.weight/param [0:4, 2:4] from rank 3 to rank 1".
  std::string DebugString(const PlanInput& input) const;
};

// Bytes of the region.
int64_t NumBytes(const Route& route, const PlanInput& input);

// A hash of what is moved and between which processes. Senders' sum modulo
// 2^64 equals receivers' exactly if their plans fit together (up to chance).
uint64_t HashOf(const Route& route, const PlanInput& input);
// The same in two steps: of all but the tensor, then with it. Routes of a plan
// differ in little else.
uint64_t HashWithoutTensor(const Route& route, const PlanInput& input);
uint64_t HashWithTensor(uint64_t hash_without_tensor, int tensor);

inline std::ostream& operator<<(std::ostream& out, const Route& route) {
  return out << "tensor " << route.tensor << " " << route.region
             << " from rank " << route.source_rank << " to rank "
             << route.target_rank;
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_ROUTE_H_
