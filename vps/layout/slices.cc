#include "vps/layout/slices.h"

#include <algorithm>

#include "absl/functional/function_ref.h"

namespace dynatrain::vps {
namespace {

// Adds `next`, which begins behind all of `slices` or where they end.
void Append(Interval next, Slices& slices) {
  if (next.empty()) return;
  if (!slices.empty() && slices.back().end == next.begin) {
    slices.back().end = next.end;
  } else {
    slices.push_back(next);
  }
}

// The indices of `own` (in the rank's index space) as parts of the whole dim.
void AppendOwn(const Slices& slices, Interval own, Slices& result) {
  int64_t begin = 0;  // of the slice, in the rank's index space
  for (const Interval& slice : slices) {
    const Interval part =
        Intersect({own.begin - begin, own.end - begin}, {0, slice.size()});
    Append({slice.begin + part.begin, slice.begin + part.end}, result);
    begin += slice.size();
    if (begin >= own.end) return;
  }
}

void ForEachBlock(int64_t extent, const CutRule& rule,
                  absl::FunctionRef<void(Interval)> visit) {
  if (rule.block_extents.empty()) {
    for (int block = 0; block < rule.num_blocks; ++block) {
      visit(ChunkOf({0, extent}, rule.num_blocks, block));
    }
    return;
  }
  int64_t begin = 0;
  for (int64_t size : rule.block_extents) {
    visit({begin, begin + size});
    begin += size;
  }
}

bool OneBlock(const CutRule& rule) {
  return rule.num_blocks == 1 && rule.block_extents.empty();
}

// Makes any intervals ascending and disjoint.
Slices Union(Slices& intervals) {
  std::sort(
      intervals.begin(), intervals.end(),
      [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Slices merged;
  for (const Interval& next : intervals) {
    if (!merged.empty() && next.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, next.end);
    } else {
      merged.push_back(next);
    }
  }
  return merged;
}

}  // namespace

int64_t Extent(const Slices& slices) {
  int64_t extent = 0;
  for (const Interval& slice : slices) extent += slice.size();
  return extent;
}

Slices CutSlices(const Slices& slices, const CutRule& rule, int64_t piece) {
  if (rule.pieces == 1) return slices;
  Slices result;
  if (OneBlock(rule) && slices.size() == 1) {
    Append(ChunkOf(slices[0], rule.pieces, piece), result);
    return result;
  }
  ForEachBlock(Extent(slices), rule, [&](Interval block) {
    AppendOwn(slices, ChunkOf(block, rule.pieces, piece), result);
  });
  return result;
}

Slices PiecesMeeting(const Slices& slices, const CutRule& rule, Interval part) {
  Slices numbers;
  int64_t begin = 0;
  for (const Interval& slice : slices) {
    const Interval common = Intersect(slice, part);
    const Interval own = {begin + common.begin - slice.begin,
                          begin + common.end - slice.begin};
    begin += slice.size();
    if (common.empty()) continue;
    ForEachBlock(Extent(slices), rule, [&](Interval block) {
      const Interval met =
          ChunksOverlapping(block, rule.pieces, Intersect(block, own));
      if (!met.empty()) numbers.push_back(met);
    });
  }
  return Union(numbers);
}

}  // namespace dynatrain::vps
