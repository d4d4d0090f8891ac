// Indexes over what is listed (listed_copy.h): the part of a rank, and the
// regions that meet a box. For layout*.cc only.
#ifndef VPS_LAYOUT_LISTED_INDEX_H_
#define VPS_LAYOUT_LISTED_INDEX_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/geometry/interval.h"
#include "vps/layout/listed_copy.h"

namespace dynatrain::vps {

// Which part each rank holds: the inverse of Placement::listed.
class ListedRanks {
 public:
  ListedRanks() = default;
  // REQUIRES: no rank is there twice.
  explicit ListedRanks(absl::Span<const std::vector<int>> ranks_of_parts);

  // -1 if `rank` holds none. O(log)
  int PartOf(int rank) const;

 private:
  std::vector<std::pair<int, int>> part_of_rank_;  // ascending
};

// The regions of all parts of a copy.
class ListedIndex {
 public:
  // `parts` must outlive the index. REQUIRES: ValidateListedCopy.
  explicit ListedIndex(absl::Span<const ListedMemory> parts);

  // The regions that share an element with `box`, by part, then their order in
  // it. O(log + regions that overlap the box along one dim), which is the dim
  // along which they begin at the most places.
  void ForEachMeeting(
      const Box& box,
      absl::FunctionRef<void(const Box& region, int part)> visit) const;
  // The part that has an element of the tensor.
  int PartAt(absl::Span<const int64_t> index) const;

 private:
  struct Entry {
    int64_t begin;    // along dim_
    int64_t reaches;  // the largest end along dim_ up to this entry
    int part;
    int region;
  };

  Interval Along(const Box& box) const;

  absl::Span<const ListedMemory> parts_;
  int dim_ = 0;
  std::vector<Entry> entries_;  // by begin
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTED_INDEX_H_
