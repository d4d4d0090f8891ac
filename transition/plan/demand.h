// Demand: a region that a target rank lacks, and who could send it. It does not
// depend on which of several equal tensors is meant, so a process works it out
// once per kind of tensor (TensorClasses) and not per tensor.
//
// Rank-local: what a rank needs, or may have to serve, follows from the layouts
// alone, without looking at the rest of the world.
#ifndef TRANSITION_PLAN_DEMAND_H_
#define TRANSITION_PLAN_DEMAND_H_

#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "transition/plan/plan_input.h"
#include "vps/geometry/box.h"
#include "vps/layout/holder_set.h"

namespace dynatrain::transition {

// Who may send a region to a target: its holders in the target's member if
// there are any, else all its holders.
class Senders {
 public:
  Senders(const PlanInput& input, const vps::HolderSet& holders,
          int target_rank);

  int size() const {
    return near_.empty() ? holders_.size() : static_cast<int>(near_.size());
  }
  // Source ranks, ascending. REQUIRES: 0 <= index < size().
  int rank(int index) const {
    return near_.empty() ? holders_.rank(index) : near_[index];
  }
  bool Contains(int source_rank) const;

 private:
  vps::HolderSet holders_;
  absl::InlinedVector<int, 8> near_;  // ascending
};

struct Demand {
  vps::Box region;  // never empty; each sender holds all of it
  int target_rank;
  // Which of the target ranks with the same box this is. They take turns.
  int replica;
  Senders senders;  // never empty, never the target's own process
};

using DemandVisitor = absl::FunctionRef<void(const Demand&)>;

// What the target rank's process keeps of the tensor; nullopt if nothing.
// REQUIRES, here and below: the source world is not empty, valid indices.
std::optional<vps::Box> Kept(const PlanInput& input, int target_rank,
                             int tensor);

// All that the target rank lacks of the tensor, in disjoint regions. With what
// it keeps they tile its box.
void ForEachDemandOf(const PlanInput& input, int target_rank, int tensor,
                     DemandVisitor visit);

// All demands that have `source_rank` among their senders: those that
// ForEachDemandOf gives, and no others.
void ForEachDemandOn(const PlanInput& input, int source_rank, int tensor,
                     DemandVisitor visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_DEMAND_H_
