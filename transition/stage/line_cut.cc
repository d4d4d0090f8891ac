#include "transition/stage/line_cut.h"

#include <algorithm>

#include "absl/numeric/int128.h"

namespace dynatrain::transition {
namespace {

int64_t CeilOf(int64_t value, int64_t divisor) {
  return value / divisor + (value % divisor > 0 ? 1 : 0);
}

int64_t UnitsBytes(const CutBound& bound, int64_t unit_bytes) {
  return CeilOf(bound.half_weight * unit_bytes, 2);
}

}  // namespace

std::optional<int64_t> PartsFor(const CutBound& bound, int64_t unit_bytes) {
  if (bound.room_bytes < 0) return std::nullopt;
  if (bound.bytes == 0) return 1;
  const int64_t room = bound.room_bytes - UnitsBytes(bound, unit_bytes);
  if (room <= 0) return std::nullopt;
  const int64_t parts = CeilOf(bound.bytes, room);
  if (parts > kMaxParts) return std::nullopt;
  return parts;
}

int64_t LeastRoom(const CutBound& bound, int64_t unit_bytes) {
  if (bound.bytes == 0) return 0;
  return CeilOf(bound.bytes, kMaxParts) + UnitsBytes(bound, unit_bytes);
}

int64_t LineCutter::EndOf(int64_t parts) {
  if (parts == cut_.num_parts) return line_.bytes;
  const int64_t ideal = static_cast<int64_t>(
      absl::uint128(line_.bytes) * static_cast<uint64_t>(parts) /
      static_cast<uint64_t>(cut_.num_parts));
  while (ideal >= atom_begin_ + line_.atoms[atom_].bytes) {
    atom_begin_ += line_.atoms[atom_].bytes;
    ++atom_;
  }
  const LineAtom& atom = line_.atoms[atom_];
  const int64_t unit = UnitOf(atom);
  const int64_t units = (ideal - atom_begin_ + unit / 2) / unit;
  return atom_begin_ + std::min(units * unit, atom.bytes);
}

// Whole rows (of the last dims) where they fit a unit.
int64_t LineCutter::UnitOf(const LineAtom& atom) const {
  if (atom.bytes <= cut_.unit_bytes) return atom.bytes;
  int64_t unit = item_bytes_[atom.tensor];
  for (int dim = atom.region.dims() - 1; dim >= 0; --dim) {
    const int64_t slab = unit * atom.region.extent(dim);
    if (slab > cut_.unit_bytes) break;
    unit = slab;
  }
  return unit;
}

}  // namespace dynatrain::transition
