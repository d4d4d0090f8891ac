// JobLanes: the lanes of a job, so that what is laid into runs is laid once for
// each. Ranks of one lane have local tensors of the same sizes.
#ifndef VPS_LAYOUT_TORCH_JOB_LANES_H_
#define VPS_LAYOUT_TORCH_JOB_LANES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/layout/mesh.h"
#include "vps/layout/rank_group.h"
#include "vps/layout/torch/torch_tensor.h"

namespace dynatrain::vps {

// Runs are laid once per lane, and tensors that an uneven axis does not cut
// have a copy per lane. Far above the tensor parallelism of any job.
inline constexpr int kMaxLanes = 256;

class JobLanes {
 public:
  // The axes that cut one of `members`, indices of `tensors`, unevenly. Returns
  // kInvalidArgument naming the tensor if a cut is of a dim or over axes that
  // are not there, its elements do not fit 63 bits, or there would be more than
  // kMaxLanes.
  static absl::StatusOr<JobLanes> Create(const Mesh& mesh,
                                         absl::Span<const TorchTensor> tensors,
                                         absl::Span<const int> members);

  const std::vector<int>& axes() const { return axes_; }
  const RankGroup& group() const { return group_; }
  int size() const { return group_.ranks(); }
  // Of the local tensor of one of the members on the ranks of lane `lane`.
  int64_t Elements(const TorchTensor& tensor, int lane) const;

 private:
  JobLanes(const Mesh& mesh, std::vector<int> axes);

  Mesh mesh_;
  std::vector<int> axes_;
  RankGroup group_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_JOB_LANES_H_
