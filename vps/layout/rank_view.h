// RankView: what one rank holds, for those who ask tensor by tensor. Where the
// rank stands in the layout's groups is worked out once, not once per tensor:
// divisions are most of what a region costs.
#ifndef VPS_LAYOUT_RANK_VIEW_H_
#define VPS_LAYOUT_RANK_VIEW_H_

#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "vps/layout/layout.h"

namespace dynatrain::vps {

class RankView {
 public:
  // REQUIRES: 0 <= rank < layout.world_size().
  RankView(const Layout& layout, int rank);

  // As those of Layout, of this rank.
  bool IsAt(int tensor, int copy) const;
  void ForEachRegionOf(int tensor,
                       absl::FunctionRef<void(const OwnedRegion&)> visit) const;

 private:
  std::shared_ptr<const LayoutBody> body_;  // never null
  int rank_;
  absl::InlinedVector<int, 32> numbers_;    // by group
  absl::InlinedVector<int, 32> positions_;  // by placement; -1: it is listed
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_RANK_VIEW_H_
