// A half-open run of indices along one dim.
#ifndef VPS_GEOMETRY_INTERVAL_H_
#define VPS_GEOMETRY_INTERVAL_H_

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"

namespace dynatrain::vps {

// [begin, end). Empty if end <= begin; all empty intervals hold the same
// indices (none) but are equal only if their ends are.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  constexpr int64_t size() const { return std::max<int64_t>(0, end - begin); }
  constexpr bool empty() const { return end <= begin; }
  constexpr bool Contains(int64_t index) const {
    return begin <= index && index < end;
  }

  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

constexpr Interval Intersect(Interval a, Interval b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Piece `index` of `whole` cut into `count` pieces by torch's chunk rule: each
// is ceil(size / count) long, the last ones shorter or empty.
// REQUIRES: 0 <= index < count.
//   ChunkOf({0, 10}, 4, 3) == {9, 10};   ChunkOf({0, 3}, 4, 3) == {3, 3}
constexpr Interval ChunkOf(Interval whole, int64_t count, int64_t index) {
  const int64_t size = whole.size();
  const int64_t piece = size / count + (size % count != 0 ? 1 : 0);
  // index * piece could overflow for an index far past the last full piece.
  const int64_t full = piece == 0 ? 0 : size / piece;
  const auto cut = [&](int64_t i) {
    return whole.begin + (i > full ? size : std::min(size, i * piece));
  };
  return {cut(index), cut(index + 1)};
}

// The indices of the chunks (as in ChunkOf) that share an index with `part`.
// REQUIRES: `part` lies within `whole`.
constexpr Interval ChunksOverlapping(Interval whole, int64_t count,
                                     Interval part) {
  if (part.empty()) return {0, 0};
  const int64_t size = whole.size();
  const int64_t piece = size / count + (size % count != 0 ? 1 : 0);
  return {(part.begin - whole.begin) / piece,
          (part.end - 1 - whole.begin) / piece + 1};
}

inline std::string DebugString(Interval interval) {
  return absl::StrCat("[", interval.begin, ", ", interval.end, ")");
}

inline std::ostream& operator<<(std::ostream& out, Interval interval) {
  return out << DebugString(interval);
}

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_INTERVAL_H_
