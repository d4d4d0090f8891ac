// Sharding: how one tensor is cut, by named axes and therefore for any sizes.
//
// Splits apply left to right: each cuts what is left of `dim` into as many
// pieces as its axis has ranks, by torch's chunk rule (ChunkOf), and a rank
// takes the piece of its coordinate. An axis without a split replicates. So
// FSDP2 over TP on dim 0, in torch's words (_StridedShard(0), Shard(0)) on
// (dp, tp), is {{"tp", 0}, {"dp", 0}}: tp cuts first, dp cuts what tp left.
// What a rank holds of a tensor is therefore always one box.
#ifndef VPS_LAYOUT_SHARDING_H_
#define VPS_LAYOUT_SHARDING_H_

#include <compare>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace dynatrain::vps {

struct Split {
  std::string axis;
  int dim = 0;
  friend auto operator<=>(const Split&, const Split&) = default;
};

using Sharding = std::vector<Split>;

// kInvalidArgument naming the split unless each axis is one of kAxisNames and
// used once, and each dim is one of the tensor's `dims`.
absl::Status ValidateSharding(absl::Span<const Split> sharding, int dims);

// "tp:0 dp:0"; "replicated" if there is no split.
std::string DebugString(absl::Span<const Split> sharding);

inline std::ostream& operator<<(std::ostream& out, const Split& split) {
  return out << split.axis << ":" << split.dim;
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_SHARDING_H_
