// StateLoss: what no rank holds any more after some ranks were lost.
#ifndef VPS_LAYOUT_STATE_LOSS_H_
#define VPS_LAYOUT_STATE_LOSS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/layout/layout.h"

namespace dynatrain::vps {

struct LostPiece {
  int tensor = 0;
  Box box;
  int rank = 0;  // the authoritative one of those that held it
  friend bool operator==(const LostPiece&, const LostPiece&) = default;
};

struct StateLoss {
  int64_t bytes = 0;        // of all tensors, each element once
  int64_t num_tensors = 0;  // with at least one lost element
  // In the order of tensors, as many as were asked for.
  std::vector<LostPiece> first;

  bool empty() const { return num_tensors == 0; }
  // "" if empty. "1536 bytes of 3 tensors have no copy left:
  // layers.0.weight/exp_avg [0:4, 0:8] (was on rank 2), ...".
  std::string DebugString(const Layout& layout) const;
};

// An element is lost if all ranks that hold it, in any copy, are in
// `lost_ranks` (any order, repetition is harmless).
// O(tensors x lost ranks x log). At most `max_pieces` are listed; the totals
// are always complete.
// REQUIRES: the ranks are in the layout's world.
StateLoss ComputeStateLoss(const Layout& layout,
                           absl::Span<const int> lost_ranks,
                           int max_pieces = 5);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_STATE_LOSS_H_
