// Relabeling: which process takes which rank of the target world, so that more
// bytes stay where they are and fewer move. The processes, the layout and so
// what each rank has to hold are given; only their order is chosen.
//
//   ASSIGN_OR_RETURN(const Relabeling better, Relabel(input, {}));
//   ASSIGN_OR_RETURN(input, PlanInput::Create(input.source(), better.target,
//                                             input.options()));
//
// An assignment problem over a KeptMatrix. What is promised:
// - never fewer bytes stay than in the given order;
// - kRank: no order keeps more bytes (up to `max_exact` ranks; above, no order
//   keeps more than `bound_bytes`). A rank is also where its communicators are:
//   the given order puts ranks that talk most (tensor parallelism) on one
//   member, and orders that keep most bytes can tear them apart. If any of
//   them doesn't, such a one is taken;
// - kMember: ranks that the given order puts on one member are together on one
//   member again, whichever. No such order keeps more bytes (up to `max_exact`
//   members, of as many ranks each);
// - of orders of the kind taken that keep equally many bytes, one in which most
//   ranks stay on the member that the given order puts them on, and of those
//   with the process; after that the choice is fixed by ranks alone, so that
//   all who compute it agree.
// Whether two members are near each other (a rack, a rail) plays no part.
#ifndef TRANSITION_PLAN_RELABEL_H_
#define TRANSITION_PLAN_RELABEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "transition/plan/assignment.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/world.h"

namespace dynatrain::transition {

// What changes its place as one.
enum class RelabelUnit { kRank, kMember };

struct RelabelOptions {
  RelabelUnit unit = RelabelUnit::kRank;
  // Units up to which the best order is found; above, a good one.
  int max_exact = 512;
};

struct Relabeling {
  World target;  // the given layout, and its processes by their new ranks
  int64_t given_kept_bytes = 0;  // in the given order
  int64_t kept_bytes = 0;
  // No order of the asked kind keeps more. Equal to kept_bytes where the best
  // order was found.
  int64_t bound_bytes = 0;
  int changed_ranks = 0;  // that have another process than in the given order
  // Whether ranks that were given to one member are on one member.
  bool members_whole = true;

  // "keeps 12 B rather than 8 B, at most 12 B; 3 ranks change".
  std::string DebugString() const;
};

// Targets of more than kMaxAssignmentSize ranks keep the given order; the bound
// is then what any rank could keep of anything. Returns kInvalidArgument naming
// the option if max_exact is not in 1..kMaxAssignmentSize.
absl::StatusOr<Relabeling> Relabel(const PlanInput& input,
                                   const RelabelOptions& options);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_RELABEL_H_
