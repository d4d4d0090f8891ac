#include "transition/plan/blobs.h"

#include <algorithm>

#include "vps/layout/mesh.h"

namespace dynatrain::transition {
namespace {

constexpr BlobKind kKinds[] = {BlobKind::kCommon, BlobKind::kCoordinate};

// The rank of `to` with the coordinates that `rank` has in `from`.
std::optional<int> SameCoordinate(const vps::Mesh& from, const vps::Mesh& to,
                                  int rank) {
  if (from.num_axes() != to.num_axes()) return std::nullopt;
  for (int axis = 0; axis < from.num_axes(); ++axis) {
    if (from.axes()[axis].name != to.axes()[axis].name) return std::nullopt;
  }
  return to.RankOf(from.CoordinatesOf(rank));
}

}  // namespace

absl::string_view BlobName(BlobKind kind) {
  return kind == BlobKind::kCommon ? "common" : "coordinate";
}

std::optional<int> BlobSource(const PlanInput& input, BlobKind kind,
                              int target_rank) {
  if (input.source().empty()) return std::nullopt;
  if (kind == BlobKind::kCoordinate) {
    return SameCoordinate(input.target().layout().meshes()[0],
                          input.source().layout().meshes()[0], target_rank);
  }
  const int own = input.SourceRankOfTarget(target_rank);
  return own >= 0 ? own : target_rank % input.source().size();
}

std::vector<BlobRoute> BlobsTo(const PlanInput& input, int target_rank) {
  std::vector<BlobRoute> routes;
  for (BlobKind kind : kKinds) {
    if (const auto source = BlobSource(input, kind, target_rank)) {
      routes.push_back({kind, *source, target_rank});
    }
  }
  return routes;
}

std::vector<BlobRoute> BlobsFrom(const PlanInput& input, int source_rank) {
  std::vector<BlobRoute> routes;
  const auto add_if_mine = [&](BlobKind kind, int target_rank) {
    if (BlobSource(input, kind, target_rank) == source_rank) {
      routes.push_back({kind, source_rank, target_rank});
    }
  };
  // Only the process itself and every source-size-th rank can come from here.
  const int self = input.TargetRankOfSource(source_rank);
  if (self >= 0) add_if_mine(BlobKind::kCommon, self);
  for (int rank = source_rank; rank < input.target().size();
       rank += input.source().size()) {
    if (rank != self) add_if_mine(BlobKind::kCommon, rank);
  }
  const auto same =
      SameCoordinate(input.source().layout().meshes()[0],
                     input.target().layout().meshes()[0], source_rank);
  if (same.has_value()) add_if_mine(BlobKind::kCoordinate, *same);
  std::sort(routes.begin(), routes.end());
  return routes;
}

}  // namespace dynatrain::transition
