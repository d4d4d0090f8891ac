// DTensorPlacement: how one mesh axis places a tensor, in PyTorch's words
// (torch/distributed/tensor/placement_types.py of torch 2.15), and what that is
// in ours.
//
// DTensor applies placements from the first mesh axis to the last. Shard(dim)
// cuts what is left of `dim` by torch.chunk. _StridedShard(dim, split_factor)
// first chunks what is left into `split_factor` blocks and then chunks each
// block over the axis; a rank holds its piece of each, laid end to end. That is
// a Cut with num_blocks = split_factor, for uneven and empty pieces too.
//
//   ASSIGN_OR_RETURN(DTensorPlacement placement,
//                    ParseDTensorPlacement("_S(0, 2)"));
//
// FSDP2 over tensor parallelism reports (_StridedShard(0, split_factor = tp),
// Shard(0)) on (dp, tp), but cuts in another order: tp first, then dp what tp
// left. Both hold the same as long as all pieces are even, and differ where
// they aren't; CutsOfSplits (split_cuts.h) says what FSDP2 does.
#ifndef VPS_LAYOUT_TORCH_DTENSOR_PLACEMENT_H_
#define VPS_LAYOUT_TORCH_DTENSOR_PLACEMENT_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"

namespace dynatrain::vps {

struct DTensorPlacement {
  // The dim that the axis shards, or kReplicate.
  static constexpr int kReplicate = -1;
  int dim = kReplicate;
  int split_factor = 1;

  friend bool operator==(const DTensorPlacement&,
                         const DTensorPlacement&) = default;
};

// Reads what torch prints, as str() or repr(): "R", "Replicate()", "S(0)",
// "Shard(dim=0)", "_S(0, 2)", "_StridedShard(dim=0, sf=2)". Returns
// kInvalidArgument for any other; a Partial is refused as such, since its
// elements are sums over ranks that no rank holds.
absl::StatusOr<DTensorPlacement> ParseDTensorPlacement(absl::string_view text);

// "R", "S(0)" or "_S(0, 2)".
std::string DebugString(const DTensorPlacement& placement);

// The cuts of a tensor of `dims` dims with one placement per axis of `mesh`, in
// their order. Returns kInvalidArgument naming the placement if there are not
// as many as axes, a dim isn't one of the tensor's, or a split factor is
// below 1.
absl::StatusOr<std::vector<Cut>> CutsOfPlacements(
    const Mesh& mesh, int dims, absl::Span<const DTensorPlacement> placements);

inline std::ostream& operator<<(std::ostream& out,
                                const DTensorPlacement& placement) {
  return out << DebugString(placement);
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_DTENSOR_PLACEMENT_H_
