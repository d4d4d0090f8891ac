#include "vps/layout/torch/job_lanes.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/layout/slices.h"

namespace dynatrain::vps {
namespace {

CutRule RuleOf(const Cut& cut, int pieces) {
  return {pieces, cut.num_blocks, cut.block_extents};
}

absl::Status CheckCuts(const Mesh& mesh, const TorchTensor& tensor) {
  RETURN_IF_ERROR(Placement{.cuts = tensor.cuts}.Validate(mesh));
  const int dims = static_cast<int>(tensor.shape.size());
  const std::string shape =
      absl::StrCat("shape [", absl::StrJoin(tensor.shape, ", "), "]");
  for (size_t i = 0; i < tensor.cuts.size(); ++i) {
    const Cut& cut = tensor.cuts[i];
    if (cut.dim >= dims) {
      return absl::InvalidArgumentError(
          absl::StrCat("cuts[", i, "]: dim ", cut.dim, " is not one of the ",
                       dims, " of ", shape));
    }
    if (!cut.block_extents.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cuts[", i,
                       "]: block_extents: PyTorch has none; leave "
                       "them out, or give num_blocks"));
    }
  }
  if (!CheckedVolume(tensor.shape).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(shape, " has more elements than fit 63 bits"));
  }
  return absl::OkStatus();
}

// Adds the axes of cuts that leave some rank less than another.
void AddUnevenAxes(const Mesh& mesh, const TorchTensor& tensor,
                   std::set<int>& axes) {
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    std::set<int64_t> extents = {tensor.shape[dim]};
    for (const Cut& cut : tensor.cuts) {
      if (cut.dim != static_cast<int>(dim)) continue;
      const CutRule rule = RuleOf(cut, RankGroup(mesh, cut.group).pieces());
      std::set<int64_t> after;
      for (const int64_t extent : extents) {
        const auto pieces = PieceExtents(extent, rule);
        after.insert(pieces.begin(), pieces.end());
        if (pieces.size() == 1) continue;
        axes.insert(cut.group.axes.begin(), cut.group.axes.end());
      }
      extents = std::move(after);
    }
  }
}

}  // namespace

JobLanes::JobLanes(const Mesh& mesh, std::vector<int> axes)
    : mesh_(mesh), axes_(std::move(axes)), group_(mesh, {axes_}) {}

absl::StatusOr<JobLanes> JobLanes::Create(const Mesh& mesh,
                                          absl::Span<const TorchTensor> tensors,
                                          absl::Span<const int> members) {
  std::set<int> axes;
  for (const int member : members) {
    const TorchTensor& tensor = tensors[member];
    RETURN_IF_ERROR(CheckCuts(mesh, tensor),
                    absl::StrCat("tensor ", tensor.name));
    AddUnevenAxes(mesh, tensor, axes);
    JobLanes lanes(mesh, {axes.begin(), axes.end()});
    if (lanes.size() <= kMaxLanes) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", tensor.name,
        ": ranks flatten local tensors of different "
        "sizes over axes of ",
        lanes.size(), " coordinates; at most ", kMaxLanes, " are laid out"));
  }
  return JobLanes(mesh, {axes.begin(), axes.end()});
}

int64_t JobLanes::Elements(const TorchTensor& tensor, int lane) const {
  std::vector<int64_t> shape = tensor.shape;
  const int rank = group_.RankOf(lane);
  for (const Cut& cut : tensor.cuts) {
    const RankGroup group(mesh_, cut.group);
    shape[cut.dim] =
        Extent(CutSlices({{0, shape[cut.dim]}}, RuleOf(cut, group.pieces()),
                         group.NumberOf(rank)));
  }
  return *CheckedVolume(shape);
}

}  // namespace dynatrain::vps
