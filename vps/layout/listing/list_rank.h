// ListRank: what a rank holds by a layout, as a listing says it.
#ifndef VPS_LAYOUT_LISTING_LIST_RANK_H_
#define VPS_LAYOUT_LISTING_LIST_RANK_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "vps/layout/layout.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain::vps {

// What a framework's mapping knows of a rank beyond its layout. Either may be
// empty: then there is nothing to know.
struct LiveView {
  // The name by which the program on `rank` knows the copy. REQUIRES: IsAt.
  std::function<std::string(int rank, int tensor, int copy)> name;
  // The flat buffers of `rank`.
  std::function<std::vector<ListedBuffer>(int rank)> buffers;
};

// Tensors and copies of which the rank holds no element are left out. O(what
// the rank holds).
RankListing ListRank(const Layout& layout, const LiveView& live, int rank);

// Only these tensors, and no buffers. O(tensors named).
RankListing ListRank(const Layout& layout, const LiveView& live, int rank,
                     absl::Span<const int> tensors);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTING_LIST_RANK_H_
