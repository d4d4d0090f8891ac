#include "transition/check/extent_use.h"

#include <algorithm>

namespace dynatrain::transition {

using vps::Box;

ExtentUse::ExtentUse(absl::Span<const Piece> pieces,
                     absl::Span<const int64_t> item_bytes, int64_t extent_bytes)
    : item_bytes_(item_bytes.begin(), item_bytes.end()),
      extent_bytes_(extent_bytes) {
  int64_t at = 0;
  for (const Piece& it : pieces) {
    pieces_.insert({{it.tensor, it.copy}, {it.region, at}});
    at += it.region.num_elements() * item_bytes_[it.tensor];
  }
}

int64_t ExtentUse::Change(const Piece& region, int sign) {
  const size_t before = used_.size();
  const auto [begin, end] = pieces_.equal_range({region.tensor, region.copy});
  for (auto it = begin; it != end; ++it) {
    if (it->second.box.Contains(region.region)) {
      ChangeRows(it->second, region, sign);
    }
  }
  return (static_cast<int64_t>(used_.size()) - static_cast<int64_t>(before)) *
         extent_bytes_;
}

void ExtentUse::ChangeRows(const Lies& piece, const Piece& region, int sign) {
  const Box& box = region.region;
  const int last = box.dims() - 1;
  const int64_t row = last < 0 ? 1 : box.extent(last);
  for (int64_t i = 0; i < box.num_elements() / row; ++i) {
    // From the number of the row to its place in the piece.
    int64_t place = 0, stride = 1, rest = i;
    for (int dim = last; dim >= 0; --dim) {
      const int64_t extent = dim == last ? 1 : box.extent(dim);
      place +=
          stride * (box.origin(dim) - piece.box.origin(dim) + rest % extent);
      rest /= extent;
      stride *= piece.box.extent(dim);
    }
    const int64_t item_bytes = item_bytes_[region.tensor];
    ChangeBytes(piece.at + place * item_bytes, row * item_bytes, sign);
  }
}

void ExtentUse::ChangeBytes(int64_t begin, int64_t bytes, int sign) {
  const int64_t end = begin + bytes;
  for (int64_t at = begin; at < end;) {
    const int64_t extent = at / extent_bytes_;
    const int64_t next = std::min(end, (extent + 1) * extent_bytes_);
    int64_t& used = used_[extent];
    used += sign * (next - at);
    if (used == 0) used_.erase(extent);
    at = next;
  }
}

}  // namespace dynatrain::transition
