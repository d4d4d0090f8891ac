// FlatRun: several tensors laid end to end in one run of elements that is cut
// into equal shards, one for each rank of a group: an FSDP1 FlatParameter, a
// DeepSpeed partition. What lies between the tensors and at the end is padding.
#ifndef VPS_LAYOUT_TORCH_FLAT_RUN_H_
#define VPS_LAYOUT_TORCH_FLAT_RUN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dynatrain::vps {

// In elements.
struct FlatRun {
  std::vector<int64_t> positions;  // of each tensor's first element
  int64_t shard = 0;               // of one rank
  friend bool operator==(const FlatRun&, const FlatRun&) = default;
};

// Lays tensors end to end, each at a multiple of `alignment`, pads the run to a
// multiple of `multiple` and cuts it into `ranks` equal shards.
// Returns kInvalidArgument if there is no element, or their number does not fit
// 63 bits. REQUIRES: elements >= 0, alignment and ranks >= 1, `multiple` is one
// of `ranks`.
absl::StatusOr<FlatRun> LayEndToEnd(absl::Span<const int64_t> elements,
                                    int64_t alignment, int64_t multiple,
                                    int64_t ranks);

// FSDP1's FlatParameter (torch/distributed/fsdp/_flat_param.py of torch 2.15,
// _init_flat_param_and_metadata and _get_shard). With `alignment` > 0, which
// FSDP1 does if use_orig_params is set, each tensor begins at a multiple of it
// and the run is a multiple of `ranks`; with 0 there is no such padding. A
// shard is ceil(elements / ranks), torch.chunk's.
//   {10, 5}, alignment 4, 2 ranks: positions 0, 12; 18 elements; shards of 9
//   {10, 5}, alignment 0, 2 ranks: positions 0, 10; 15 elements; shards of 8
// Returns as LayEndToEnd. REQUIRES: elements and alignment are not negative,
// ranks >= 1.
absl::StatusOr<FlatRun> LayFlatParameter(absl::Span<const int64_t> elements,
                                         int64_t alignment, int64_t ranks);

// What use_orig_params aligns to: 16 bytes of the dtype in which the unsharded
// parameters are computed with (MixedPrecision.param_dtype, else their own).
inline constexpr int64_t kFlatParameterAlignmentBytes = 16;

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_FLAT_RUN_H_
