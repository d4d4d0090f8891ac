// Rank order: which member takes which ranks of a new world. A member keeps
// most where its new ranks hold what its old ones held, so the order decides
// how many bytes move; transition/plan/relabel.h finds the best.
#ifndef OPERATOR_RECONCILE_RANK_ORDER_H_
#define OPERATOR_RECONCILE_RANK_ORDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace dynatrain::control {

struct MemberWorld {
  std::vector<uint32_t> members;  // in rank order
  std::string layout;             // "dp2,tp2,pp1"
};

// The members of `target` in the order in which most bytes stay where they are:
// the given one if none keeps more. Also if that can't be told: there is no
// source, the manifest (JSON text) is not known or can't be read, or there are
// more than 512 ranks or four million tensors, counted on each rank, which
// would hold up the operator's round for more than about a second.
std::vector<uint32_t> OrderThatKeepsMost(absl::string_view manifest,
                                         const MemberWorld& source,
                                         const MemberWorld& target,
                                         int ranks_per_member);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_RANK_ORDER_H_
