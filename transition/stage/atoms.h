// Atoms: the common refinement of boxes that overlap in any way.
#ifndef TRANSITION_STAGE_ATOMS_H_
#define TRANSITION_STAGE_ATOMS_H_

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// Calls `visit` with disjoint boxes whose union is that of `regions`, each with
// the regions (their indices, ascending) that contain it; no other one
// overlaps it. Cuts as few regions as it can at each step: where regions don't
// overlap, they are the atoms. The same for any order of equal calls.
// REQUIRES: regions of one tensor, none empty. O(n log^2 n) for n regions of
// which few overlap.
void ForEachAtom(
    absl::Span<const vps::Box> regions,
    absl::FunctionRef<void(const vps::Box&, absl::Span<const int>)> visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_ATOMS_H_
