// 64-bit arithmetic on sizes that says when it overflows.
#ifndef VPS_GEOMETRY_CHECKED_H_
#define VPS_GEOMETRY_CHECKED_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace dynatrain::vps {

// a + b, or nullopt if it does not fit.
constexpr std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// a * b, or nullopt if it does not fit.
constexpr std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// `value` rounded up to a multiple of `unit`, or nullopt if it does not fit.
// REQUIRES: value >= 0, unit >= 1.
constexpr std::optional<int64_t> CheckedRoundUp(int64_t value, int64_t unit) {
  const int64_t rest = value % unit;
  return rest == 0 ? value : CheckedAdd(value, unit - rest);
}

// The product of `extents` (1 for none), or nullopt if it does not fit. An
// extent of 0 makes the product 0 whatever the others are, so that a shape
// is refused or not independently of the order of its dims.
inline std::optional<int64_t> CheckedVolume(absl::Span<const int64_t> extents) {
  for (int64_t extent : extents) {
    if (extent == 0) return 0;
  }
  std::optional<int64_t> volume = 1;
  for (int64_t extent : extents) {
    volume = CheckedMultiply(*volume, extent);
    if (!volume.has_value()) return std::nullopt;
  }
  return volume;
}

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_CHECKED_H_
