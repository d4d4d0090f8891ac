// Candidates: who can send what several ranks hold, nearest ones only, and the
// same question from the other end: whom a rank sends to.
//
// Both ends answer it alone and alike. Of the holders of a piece, those in the
// target's nearest group that has any are its candidates (Tier); of them, as
// many send as the options allow, from a first one on that depends on the
// target's turn. The inverse is in closed form: the turns that fall to a
// sender are spaced evenly (ForEachTurnOf), so a rank looks at those targets
// that it may have to serve, however many there are in the world.
#ifndef TRANSITION_PLAN_CANDIDATES_H_
#define TRANSITION_PLAN_CANDIDATES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/sender_shares.h"
#include "transition/plan/world.h"
#include "vps/layout/holder_set.h"

namespace dynatrain::transition {

// Ranks that hold one piece of a copy: all of them, or those in one group.
class Candidates {
 public:
  explicit Candidates(const vps::HolderSet& holders) : holders_(holders) {}
  // REQUIRES: `near` are some of the holders, ascending, at least one.
  Candidates(const vps::HolderSet& holders, std::vector<int> near)
      : holders_(holders), near_(std::move(near)) {}

  int size() const {
    return near_.empty() ? holders_.size() : static_cast<int>(near_.size());
  }
  // REQUIRES: 0 <= index < size().
  int rank(int index) const {
    return near_.empty() ? holders_.rank(index) : near_[index];
  }
  std::optional<int> IndexOf(int rank) const;

  CandidatesKey key;
  // Their part of the input's shares; null if it has none, or there is no
  // choice, or nobody asks them.
  const SharedGroup* group = nullptr;

 private:
  vps::HolderSet holders_;
  std::vector<int> near_;
};

// Of a piece of a tensor in one world: who holds it.
struct HeldPiece {
  int tensor;  // in that world's layout
  int copy;
  vps::HolderSet holders;
};

// How a target is served.
struct Service {
  const Candidates* candidates;
  // Counts the targets that ask the same candidates: those with another piece,
  // and those with the same one.
  int64_t turn;
};

// The first of `candidates` that serves a target, by its turn, if `size` of
// them do. One target after the other, so that all serve equally many; if all
// serve each, the next target's order is turned by one.
constexpr int FirstSender(int64_t turn, int size, int candidates) {
  return static_cast<int>(turn * (size == candidates ? 1 : size) % candidates);
}

// The turns in [begin, end) at which candidate number `index` is one of the
// `size` from FirstSender on (cyclically), ascending: O(how many there are).
void ForEachTurnOf(int index, int size, int candidates, int64_t begin,
                   int64_t end, absl::FunctionRef<void(int64_t)> visit);

// Answers for one process, and remembers what it found: tens of thousands of
// tensors are held by the same few sets of ranks.
class CandidateFinder {
 public:
  // `source_rank` -1: ReceiversOf is not asked. REQUIRES: the source world is
  // not empty.
  CandidateFinder(const PlanInput& input, int source_rank)
      : input_(input), source_rank_(source_rank) {}

  // Who may send `piece` to the target rank that is to hold it in a copy.
  // Valid as long as this. REQUIRES: several hold the piece.
  Service ServiceOf(const HeldPiece& piece, int target_rank, int target_tensor,
                    int target_copy);

  // At most this many of its candidates send a tensor to a target.
  int MostSenders(int target_tensor) const;

  // The target ranks among the holders of `to` that `source_rank` may have to
  // send `from` to, ascending within a tier. Valid until the next call.
  // REQUIRES: it holds `from`.
  absl::Span<const int> ReceiversOf(const HeldPiece& from, const HeldPiece& to);

 private:
  // Numbers that tell what was asked apart.
  using Key = std::array<int, 5>;

  const Candidates* Find(const HeldPiece& piece, int placement, Tier tier,
                         uint32_t group);
  const std::vector<int>& TargetsIn(const HeldPiece& to, int placement,
                                    Tier tier, uint32_t group);
  // The candidates in the target's nearest group that has any.
  const Candidates* FindNearest(const HeldPiece& piece, int placement,
                                int target_rank);
  Service MakeService(const HeldPiece& piece, int placement, int target_rank,
                      int target_tensor, int target_copy);
  std::vector<int> FindReceivers(const HeldPiece& from, const HeldPiece& to);

  const PlanInput& input_;
  const int source_rank_;
  absl::flat_hash_map<CandidatesKey, std::unique_ptr<Candidates>> candidates_;
  absl::flat_hash_map<CandidatesKey, std::vector<int>> targets_;
  absl::flat_hash_map<Key, Service> services_;
  absl::flat_hash_map<Key, std::vector<int>> receivers_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_CANDIDATES_H_
