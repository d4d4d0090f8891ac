// RankGroup: an AxisGroup on its mesh: the number of a rank in the group, and
// back from a number to ranks.
#ifndef VPS_LAYOUT_RANK_GROUP_H_
#define VPS_LAYOUT_RANK_GROUP_H_

#include <array>

#include "absl/types/span.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"

namespace dynatrain::vps {

class RankGroup {
 public:
  struct Axis {
    int size;
    int stride;  // how far apart ranks are that differ by one on it alone
  };

  RankGroup() = default;
  // REQUIRES: the axes are those of `mesh`, group.pieces divides their ranks.
  RankGroup(const Mesh& mesh, const AxisGroup& group) {
    for (int axis : group.axes) {
      axes_[num_axes_++] = {mesh.size(axis), mesh.stride(axis)};
      ranks_ *= mesh.size(axis);
    }
    pieces_ = group.pieces == 0 ? ranks_ : group.pieces;
  }

  // Ranks that differ on these axes.
  int ranks() const { return ranks_; }
  int pieces() const { return pieces_; }

  absl::Span<const Axis> axes() const {
    return absl::MakeConstSpan(axes_).subspan(0, num_axes_);
  }

  // The position of `rank` on the axes, the first axis slowest: 0..ranks()-1.
  int PositionOf(int rank) const { return PositionOn(axes(), rank); }
  // The piece that `rank` has: 0..pieces()-1.
  int NumberOf(int rank) const {
    const int position = PositionOf(rank);
    return pieces_ == ranks_ ? position : position % pieces_;
  }
  // What a position adds to the rank: the inverse of PositionOf if all other
  // axes are at 0.
  int RankOf(int position) const { return RankOn(axes(), position); }

  // The same for any axes.
  static int PositionOn(absl::Span<const Axis> axes, int rank) {
    int position = 0;
    for (const Axis& axis : axes) {
      position = position * axis.size + rank / axis.stride % axis.size;
    }
    return position;
  }
  static int RankOn(absl::Span<const Axis> axes, int position) {
    int rank = 0;
    for (int i = static_cast<int>(axes.size()) - 1; i >= 0; --i) {
      rank += position % axes[i].size * axes[i].stride;
      position /= axes[i].size;
    }
    return rank;
  }

 private:
  std::array<Axis, kMaxMeshAxes> axes_ = {};
  int num_axes_ = 0;
  int ranks_ = 1;
  int pieces_ = 1;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_RANK_GROUP_H_
