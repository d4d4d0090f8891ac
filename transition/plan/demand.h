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

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "transition/plan/candidates.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/sender_shares.h"
#include "vps/geometry/box.h"
#include "vps/layout/layout.h"
#include "vps/layout/rank_view.h"

namespace dynatrain::transition {

// Who sends a region to a target: so many of its Candidates as the options
// allow for the tensor's line; targets that ask the same candidates start at
// different ones. If the input has SenderShares, those say who sends, and all
// candidates count as senders.
class Senders {
 public:
  // Nobody else can.
  explicit Senders(int only_rank) : first_(only_rank) {}
  // `candidates` outlive this. REQUIRES: 1 <= size <= candidates->size().
  Senders(const Candidates* candidates, int first, int size)
      : candidates_(candidates), first_(first), size_(size) {}

  int num_candidates() const {
    return candidates_ == nullptr ? 1 : candidates_->size();
  }
  // The source rank of a candidate. REQUIRES: 0 <= index < num_candidates().
  int candidate(int index) const {
    return candidates_ == nullptr ? first_ : candidates_->rank(index);
  }
  // What tells the candidates apart from other ones.
  // REQUIRES: num_candidates() > 1.
  CandidatesKey key() const { return candidates_->key; }
  // Their part of the input's shares; null if it has none or there is no
  // choice. Lives as long as the input.
  const SharedGroup* group() const {
    return candidates_ == nullptr ? nullptr : candidates_->group;
  }

  int size() const { return size_; }
  // The source rank that sends part `index` of the line.
  // REQUIRES: 0 <= index < size().
  int rank(int index) const {
    if (candidates_ == nullptr) return first_;
    const int place = first_ + index;
    const int all = candidates_->size();
    return candidates_->rank(place < all ? place : place - all);
  }
  // The index of a sender; nullopt if the rank is none.
  std::optional<int> IndexOf(int source_rank) const;
  bool Contains(int source_rank) const {
    return IndexOf(source_rank).has_value();
  }

 private:
  const Candidates* candidates_ = nullptr;
  int first_;  // candidate; without candidates the rank itself
  int size_ = 1;
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

// What one process needs and may have to serve, tensor by tensor.
class DemandFinder {
 public:
  // Of the process with these ranks: what it serves as `source_rank`, what it
  // keeps and needs as `target_rank`; -1 for neither.
  // REQUIRES: the source world is not empty; both ranks are of one process.
  DemandFinder(const PlanInput& input, int source_rank, int target_rank);

  // Calls `keep`, `zero` and `demand` with all parts of the tensor that the
  // target rank is to hold: disjoint within a copy, and they tile its regions.
  // Returns how many elements those regions have.
  int64_t ForEachPart(int tensor, absl::FunctionRef<void(const KeptPart&)> keep,
                      absl::FunctionRef<void(const ZeroPart&)> zero,
                      absl::FunctionRef<void(const Demand&)> demand);

  // All demands that have `source_rank` among their senders: those that
  // ForEachPart gives, and no others.
  void ForEachDemandOn(int tensor,
                       absl::FunctionRef<void(const Demand&)> visit);

 private:
  using Owned = absl::InlinedVector<vps::OwnedRegion, 2>;

  // What a source rank holds of a tensor.
  struct Held {
    std::unique_ptr<vps::RankView> view;
    int tensor = -1;  // in the plan
    Owned regions;
  };

  static Owned RegionsOf(const vps::RankView& view, int tensor);
  const Owned& HeldBy(int source_rank, int tensor);
  // What the target rank's process held; nothing if it joins.
  const Owned& HeldBefore(int target_rank, int tensor);
  Senders SendersOf(const HeldPiece& piece, int target_rank, int tensor,
                    int target_copy);
  void Serve(const vps::OwnedRegion& own, const HeldPiece& from,
             const vps::Box& needed, int target_rank, int tensor,
             int target_copy, absl::FunctionRef<void(const Demand&)> visit);

  const PlanInput& input_;
  const int source_rank_;
  const int target_rank_;
  CandidateFinder candidates_;
  std::optional<vps::RankView> target_view_;  // of target_rank_, if it is one
  // By source rank, what was asked last: of our own and of those that we may
  // have to serve.
  absl::flat_hash_map<int, std::unique_ptr<Held>> held_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_DEMAND_H_
