// Demand: a region that a target rank lacks, and who could send it. It does not
// depend on which of several equal tensors is meant, so a process works it out
// once per kind of tensor (TensorClasses) and not per tensor.
//
// Rank-local: what a rank needs, or may have to serve, follows from the layouts
// alone, without looking at the rest of the world. Of each region that a target
// rank is to hold, in every copy, elements are
//   kept    if its own process has them, in any copy,
//   zero    if no source can have them: padding that only the target has,
//   lacking otherwise.
#ifndef TRANSITION_PLAN_DEMAND_H_
#define TRANSITION_PLAN_DEMAND_H_

#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/sender_shares.h"
#include "vps/geometry/box.h"
#include "vps/layout/holder_set.h"

namespace dynatrain::transition {

// Who sends a region to a target. Candidates are its holders in the target's
// member if there are any, else all its holders. Of them as many send as the
// options allow for the tensor's line; targets that ask the same candidates
// start at different ones. If the input has SenderShares, those say who sends,
// and all candidates count as senders.
class Senders {
 public:
  // The holders of a piece of the source's copy; `target_copy` is the copy that
  // the target is to hold.
  Senders(const PlanInput& input, const vps::HolderSet& holders, int tensor,
          int source_copy, int target_rank, int target_copy);

  int num_candidates() const {
    return near_.empty() ? holders_.size() : static_cast<int>(near_.size());
  }
  // The source rank of a candidate. REQUIRES: 0 <= index < num_candidates().
  int candidate(int index) const {
    return near_.empty() ? holders_.rank(index) : near_[index];
  }
  // What tells the candidates apart from other ones.
  CandidatesKey key() const {
    return {placement_, holders_.first(), near_.empty() ? -1 : member_};
  }
  // Their part of the input's shares; null if it has none or there is no
  // choice. Lives as long as the input.
  const SharedGroup* group() const { return group_; }

  int size() const { return size_; }
  // The source rank that sends part `index` of the line.
  // REQUIRES: 0 <= index < size().
  int rank(int index) const {
    return candidate((first_ + index) % num_candidates());
  }
  // The index of a sender; nullopt if the rank is none.
  std::optional<int> IndexOf(int source_rank) const;
  bool Contains(int source_rank) const {
    return IndexOf(source_rank).has_value();
  }

 private:
  vps::HolderSet holders_;
  int placement_ = 0;
  int64_t member_ = -1;
  const SharedGroup* group_ = nullptr;
  absl::InlinedVector<int, 8> near_;  // ascending
  int first_ = 0;
  int size_ = 0;
};

struct Demand {
  vps::Box region;  // never empty; each sender holds all of it
  int target_rank;
  int source_copy;
  int target_copy;
  Senders senders;  // never empty, never the target's own process
};

// What a target rank's process has already.
struct KeptPart {
  vps::Box region;
  int source_copy;
  int target_copy;
  // The process's own memory of both copies is the same, element by element, so
  // that it can be taken over.
  bool adopted;
};

struct ZeroPart {
  vps::Box region;
  int target_copy;
};

// Calls `keep`, `zero` and `demand` with all parts of the tensor that the
// target rank is to hold: disjoint within a copy, and they tile its regions.
// REQUIRES, here and below: the source world is not empty, valid indices.
void ForEachPartOf(const PlanInput& input, int target_rank, int tensor,
                   absl::FunctionRef<void(const KeptPart&)> keep,
                   absl::FunctionRef<void(const ZeroPart&)> zero,
                   absl::FunctionRef<void(const Demand&)> demand);

// All demands that have `source_rank` among their senders: those that
// ForEachPartOf gives, and no others.
void ForEachDemandOn(const PlanInput& input, int source_rank, int tensor,
                     absl::FunctionRef<void(const Demand&)> visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_DEMAND_H_
