// AxisSizes: how many ways each kind of parallelism cuts a job, and its text,
// the one ASCII form of a layout in specs, status and tools.
//
//   ASSIGN_OR_RETURN(AxisSizes sizes, AxisSizes::Parse("tp2,dp4"));
//   sizes.ToString() == "dp4,tp2,pp1";  sizes.world_size() == 8
//
// dp: fully sharded data parallel. tp: tensor. pp: pipeline. ep: expert (an
// axis of its own here). rep: HSDP's replicate axis.
#ifndef VPS_LAYOUT_AXIS_SIZES_H_
#define VPS_LAYOUT_AXIS_SIZES_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::vps {

// In the order of the text.
inline constexpr std::array<absl::string_view, 5> kAxisNames = {
    "dp", "tp", "pp", "ep", "rep"};

// Ranks of a world at most; far above any known job, and products of a few of
// them still fit 63 bits.
inline constexpr int kMaxWorldSize = 1 << 20;

class AxisSizes {
 public:
  struct Values {
    int64_t dp = 1;
    int64_t tp = 1;
    int64_t pp = 1;
    int64_t ep = 1;
    int64_t rep = 1;
  };

  // All 1: a world of one rank.
  AxisSizes() = default;

  // Returns kInvalidArgument naming the axis if a size is below 1 or the world
  // is larger than kMaxWorldSize.
  static absl::StatusOr<AxisSizes> Create(const Values& values);

  // Reads "dp2,tp2,pp1[,ep2][,rep2]" in any order, omitted axes being 1.
  // Valid: "dp4", "tp2,dp2". Refused with kInvalidArgument, naming the entry:
  // "" and "dp2," (an entry is empty), "dp0" (below 1), "dp2,dp2" (twice),
  // "cp2" (unknown axis), "dp02" and "dp 2" (no plain number).
  static absl::StatusOr<AxisSizes> Parse(absl::string_view text);

  int dp() const { return sizes_[0]; }
  int tp() const { return sizes_[1]; }
  int pp() const { return sizes_[2]; }
  int ep() const { return sizes_[3]; }
  int rep() const { return sizes_[4]; }
  // The size of the axis of that name; nullopt if there is no such axis.
  std::optional<int> size(absl::string_view axis) const;
  // The product of all sizes.
  int world_size() const;

  // dp, tp and pp always; ep and rep only if above 1. Parse is its inverse.
  std::string ToString() const;

  friend auto operator<=>(const AxisSizes&, const AxisSizes&) = default;

 private:
  std::array<int, kAxisNames.size()> sizes_ = {1, 1, 1, 1, 1};
};

inline std::ostream& operator<<(std::ostream& out, const AxisSizes& sizes) {
  return out << sizes.ToString();
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_AXIS_SIZES_H_
