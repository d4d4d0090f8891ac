// HolderSet: the ranks that hold the same piece of a tensor, as a product over
// the mesh axes that do not tell its holders apart, or as a view of a list. Its
// size in memory does not depend on how many ranks there are.
#ifndef VPS_LAYOUT_HOLDER_SET_H_
#define VPS_LAYOUT_HOLDER_SET_H_

#include <algorithm>
#include <array>
#include <optional>

#include "absl/types/span.h"
#include "vps/layout/mesh.h"
#include "vps/layout/rank_group.h"

namespace dynatrain::vps {

class HolderSet {
 public:
  // The set of one rank; the factors added later multiply it.
  // REQUIRES: `first` is at 0 on all axes of those factors.
  explicit HolderSet(int first) : base_(first) {}
  // These ranks, which must outlive the set.
  // REQUIRES: ascending, at least one; no factors are added.
  explicit HolderSet(absl::Span<const int> ranks)
      : base_(ranks[0]), size_(static_cast<int>(ranks.size())), list_(ranks) {}

  // All ranks of `group`; REQUIRES, here and below: no axis in two factors.
  void AddAll(const RankGroup& group) { Add(group, 0, 1, group.ranks()); }
  // The ranks of `group` whose number (RankGroup::NumberOf) is `number`.
  void AddNumber(const RankGroup& group, int number) {
    if (group.pieces() == group.ranks()) {
      base_ += group.RankOf(number);
    } else {
      Add(group, number, group.pieces(), group.ranks() / group.pieces());
    }
  }

  int size() const { return size_; }
  // The authoritative holder: at the first position on every free axis, so the
  // smallest rank unless a group names its axes in another order than the mesh.
  int first() const { return rank(0); }
  // The holders in a fixed order. REQUIRES: 0 <= index < size().
  int rank(int index) const {
    if (!list_.empty()) return list_[index];
    int rank = base_;
    for (int i = num_factors_ - 1; i >= 0; --i) {
      const Factor& factor = factors_[i];
      rank += RankGroup::RankOn(
          AxesOf(factor), factor.begin + index % factor.count * factor.step);
      index /= factor.count;
    }
    return rank;
  }
  // The index with rank(index) == rank; nullopt if `rank` is no holder.
  std::optional<int> IndexOf(int rank) const {
    if (!list_.empty()) return IndexInList(rank);
    int index = 0;
    int rest = rank;
    for (int i = 0; i < num_factors_; ++i) {
      const Factor& factor = factors_[i];
      const int position = RankGroup::PositionOn(AxesOf(factor), rank);
      rest -= RankGroup::RankOn(AxesOf(factor), position);
      if (position % factor.step != factor.begin) return std::nullopt;
      index = index * factor.count + position / factor.step;
    }
    if (rest != base_) return std::nullopt;
    return index;
  }
  bool Contains(int rank) const { return IndexOf(rank).has_value(); }

 private:
  // The positions begin, begin + step, ... on some axes.
  struct Factor {
    int first_axis;
    int num_axes;
    int begin;  // below step
    int step;
    int count;
  };

  std::optional<int> IndexInList(int rank) const {
    const auto it = std::lower_bound(list_.begin(), list_.end(), rank);
    if (it == list_.end() || *it != rank) return std::nullopt;
    return static_cast<int>(it - list_.begin());
  }
  absl::Span<const RankGroup::Axis> AxesOf(const Factor& factor) const {
    return absl::MakeConstSpan(axes_).subspan(factor.first_axis,
                                              factor.num_axes);
  }
  void Add(const RankGroup& group, int begin, int step, int count) {
    if (count == 1) {
      base_ += group.RankOf(begin);
      return;
    }
    const int first_axis = num_axes_;
    for (const RankGroup::Axis& axis : group.axes()) {
      if (axis.size > 1) axes_[num_axes_++] = axis;
    }
    factors_[num_factors_++] = {first_axis, num_axes_ - first_axis, begin, step,
                                count};
    size_ *= count;
  }

  int base_ = 0;
  int size_ = 1;
  int num_axes_ = 0;
  int num_factors_ = 0;
  std::array<RankGroup::Axis, kMaxMeshAxes> axes_;
  std::array<Factor, kMaxMeshAxes> factors_;  // the first one slowest
  absl::Span<const int> list_;  // unless empty, all holders, and no factors
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_HOLDER_SET_H_
