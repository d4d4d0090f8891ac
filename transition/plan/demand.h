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

// Who sends a region to a target: of its holders in the target's member if
// there are any, else of all its holders, as many as the options allow for the
// tensor's line. Targets that ask the same holders start at different ones.
class Senders {
 public:
  Senders(const PlanInput& input, const vps::HolderSet& holders, int tensor,
          int target_rank);

  int size() const { return size_; }
  // The source rank that sends part `index` of the line.
  // REQUIRES: 0 <= index < size().
  int rank(int index) const {
    return Candidate((first_ + index) % num_candidates());
  }
  bool Contains(int source_rank) const;

 private:
  int num_candidates() const {
    return near_.empty() ? holders_.size() : static_cast<int>(near_.size());
  }
  int Candidate(int index) const {
    return near_.empty() ? holders_.rank(index) : near_[index];
  }

  vps::HolderSet holders_;
  absl::InlinedVector<int, 8> near_;  // ascending
  int first_ = 0;
  int size_ = 0;
};

struct Demand {
  vps::Box region;  // never empty; each sender holds all of it
  int target_rank;
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
