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

// The blocks that share an index with `part`, ascending.
void ForEachBlock(int64_t extent, const CutRule& rule, Interval part,
                  absl::FunctionRef<void(Interval)> visit) {
  if (rule.block_extents.empty()) {
    const Interval blocks =
        ChunksOverlapping({0, extent}, rule.num_blocks, part);
    for (int64_t block = blocks.begin; block < blocks.end; ++block) {
      visit(ChunkOf({0, extent}, rule.num_blocks, block));
    }
    return;
  }
  int64_t begin = 0;
  for (int64_t size : rule.block_extents) {
    const Interval block = {begin, begin + size};
    if (!Intersect(block, part).empty()) visit(block);
    begin += size;
  }
}

bool OneBlock(const CutRule& rule) {
  return rule.num_blocks == 1 && rule.block_extents.empty();
}

PlaceInCut FindInBlocks(const CutRule& rule, int64_t index) {
  PlaceInCut place;
  int64_t begin = 0;  // of the block
  for (int64_t size : rule.block_extents) {
    if (index >= begin && index < begin + size) {
      place.piece = ChunksOverlapping({begin, begin + size}, rule.pieces,
                                      {index, index + 1})
                        .begin;
    }
    begin += size;
  }
  begin = 0;
  for (int64_t size : rule.block_extents) {
    const Interval own =
        ChunkOf({begin, begin + size}, rule.pieces, place.piece);
    if (own.Contains(index)) place.index = place.extent + index - own.begin;
    place.extent += own.size();
    begin += size;
  }
  return place;
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
  const int64_t extent = Extent(slices);
  ForEachBlock(extent, rule, {0, extent}, [&](Interval block) {
    AppendOwn(slices, ChunkOf(block, rule.pieces, piece), result);
  });
  return result;
}

absl::InlinedVector<int64_t, 4> PieceExtents(int64_t extent,
                                             const CutRule& rule) {
  const auto extent_of = [&](int64_t piece) {
    return Extent(CutSlices({{0, extent}}, rule, piece));
  };
  absl::InlinedVector<int64_t, 4> extents;
  for (int64_t piece = 0; piece < rule.pieces;) {
    extents.push_back(extent_of(piece));
    // The first shorter piece is after `piece` and not after `end`.
    int64_t end = rule.pieces;
    while (piece + 1 < end) {
      const int64_t middle = piece + (end - piece) / 2;
      (extent_of(middle) < extents.back() ? end : piece) = middle;
    }
    piece = end;
  }
  return extents;
}

PlaceInCut FindInCut(int64_t extent, const CutRule& rule, int64_t index) {
  if (!rule.block_extents.empty()) return FindInBlocks(rule, index);
  // All blocks are full but the last ones, and those before the index are.
  const int64_t full = (extent - 1) / rule.num_blocks + 1;
  const int64_t block = index / full;
  const Interval in_block = {0, std::min(full, extent - block * full)};
  const int64_t offset = index - block * full;
  const int64_t piece =
      ChunksOverlapping(in_block, rule.pieces, {offset, offset + 1}).begin;
  const int64_t of_full = ChunkOf({0, full}, rule.pieces, piece).size();
  const Interval rest = ChunkOf({0, extent % full}, rule.pieces, piece);
  return {.piece = piece,
          .index = block * of_full + offset -
                   ChunkOf(in_block, rule.pieces, piece).begin,
          .extent = extent / full * of_full + rest.size()};
}

Slices PiecesMeeting(const Slices& slices, const CutRule& rule, Interval part) {
  Slices numbers;
  const int64_t extent = Extent(slices);
  int64_t begin = 0;
  for (const Interval& slice : slices) {
    const Interval common = Intersect(slice, part);
    const Interval own = {begin + common.begin - slice.begin,
                          begin + common.end - slice.begin};
    begin += slice.size();
    if (common.empty()) continue;
    ForEachBlock(extent, rule, own, [&](Interval block) {
      numbers.push_back(
          ChunksOverlapping(block, rule.pieces, Intersect(block, own)));
    });
  }
  return Union(numbers);
}

}  // namespace dynatrain::vps
