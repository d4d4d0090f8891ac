// From splits by named axes to the cuts of a placement.
#ifndef VPS_LAYOUT_SPLIT_CUTS_H_
#define VPS_LAYOUT_SPLIT_CUTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"
#include "vps/layout/sharding.h"

namespace dynatrain::vps {

// The cuts of a tensor of `dims` dims, applied in the order of its splits: what
// FSDP2, HSDP and tensor parallelism of PyTorch do to it. Without those by axes
// of one rank, so that tensors that are cut alike have equal cuts. Returns
// kInvalidArgument naming the split if `mesh` has no such axis, an axis splits
// twice, or a dim isn't one of the tensor's.
absl::StatusOr<std::vector<Cut>> CutsOfSplits(const Mesh& mesh, int dims,
                                              absl::Span<const Split> splits);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_SPLIT_CUTS_H_
