// SenderShares: who sends how much where equal parts would not be even. Made by
// BalanceSenders, once for all ranks; used by each rank for its own part alone.
//
// Demands that the same ranks can serve, the candidates, are a group. The bytes
// that the targets lack of a group lie end to end: target by target, of each
// tensor by tensor, in the order of routes. Each candidate sends what lies
// between two cuts. So a candidate serves few targets, a target has few
// senders, and either end finds the place of a demand from what it knows: the
// begin of each target is kept here, and who sends to a target sees all that it
// lacks of the group.
#ifndef TRANSITION_PLAN_SENDER_SHARES_H_
#define TRANSITION_PLAN_SENDER_SHARES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/fingerprint.h"
#include "transition/plan/world.h"

namespace dynatrain::transition {

// What tells apart who can serve a demand: the holders of a piece are known by
// the source's placement and the first of them.
struct CandidatesKey {
  int placement = 0;
  int first_holder = 0;
  // The target's group of the nearest tier in which there are holders.
  Tier tier = Tier::kAnywhere;
  uint32_t group = 0;

  friend bool operator==(const CandidatesKey&, const CandidatesKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const CandidatesKey& key) {
    return H::combine(std::move(h), key.placement, key.first_holder, key.tier,
                      key.group);
  }
};

struct SharedGroup {
  int id = 0;
  // One more than candidates: number i sends the bytes cuts[i]..cuts[i + 1] - 1
  // of the group.
  std::vector<int64_t> cuts;
  absl::flat_hash_map<int, int64_t> begin_of_target;  // by target rank
};

struct SenderShares {
  // Of all demands that have a choice.
  absl::flat_hash_map<CandidatesKey, SharedGroup> groups;
  // Of all groups: ranks that agree on it share alike.
  Fingerprint digest;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_SENDER_SHARES_H_
