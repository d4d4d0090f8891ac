// HolderSet: the ranks that hold the same piece of a tensor, as a product over
// the mesh axes that do not split it. Listed lazily: its size does not depend
// on how many ranks there are.
#ifndef VPS_LAYOUT_HOLDER_SET_H_
#define VPS_LAYOUT_HOLDER_SET_H_

#include <optional>

#include "vps/layout/mesh.h"

namespace dynatrain::vps {

class HolderSet {
 public:
  // The ranks that have the coordinates of `rank` on all axes of `mesh` but
  // those that `free_axes` (a bit per axis) names.
  HolderSet(const Mesh& mesh, int rank, unsigned free_axes) : first_(rank) {
    for (int axis = 0; axis < mesh.num_axes(); ++axis) {
      if ((free_axes >> axis & 1) == 0 || mesh.size(axis) == 1) continue;
      first_ -= mesh.Coordinate(rank, axis) * mesh.stride(axis);
      factors_[num_factors_++] = {mesh.size(axis), mesh.stride(axis)};
      size_ *= mesh.size(axis);
    }
  }

  int size() const { return size_; }
  // The smallest rank: the authoritative one.
  int first() const { return first_; }
  // The holders in ascending order. REQUIRES: 0 <= index < size().
  int rank(int index) const {
    int rank = first_;
    for (int i = num_factors_ - 1; i >= 0; --i) {
      rank += index % factors_[i].count * factors_[i].stride;
      index /= factors_[i].count;
    }
    return rank;
  }
  // The index with rank(index) == rank; nullopt if `rank` is no holder.
  std::optional<int> IndexOf(int rank) const {
    int rest = rank - first_;
    if (rest < 0) return std::nullopt;
    int index = 0;
    for (int i = 0; i < num_factors_; ++i) {
      const int coordinate = rest / factors_[i].stride;
      if (coordinate >= factors_[i].count) return std::nullopt;
      rest -= coordinate * factors_[i].stride;
      index = index * factors_[i].count + coordinate;
    }
    if (rest != 0) return std::nullopt;
    return index;
  }
  bool Contains(int rank) const { return IndexOf(rank).has_value(); }

 private:
  struct Factor {
    int count;
    int stride;
  };

  int first_ = 0;
  int size_ = 1;
  int num_factors_ = 0;
  Factor factors_[kMaxMeshAxes];  // slowest first
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_HOLDER_SET_H_
