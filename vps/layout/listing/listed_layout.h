// ListedLayout: a listing of a whole world as a Layout, with boxes as they are
// listed: what a live job of any framework dumped is planned from and to, and
// explained, as any other layout.
//
//   ASSIGN_OR_RETURN(ListedLayout live, MakeListedLayout(std::move(listing)));
//   live.layout.ForEachRegion(rank, ...);   // as the listing has them
//
// Law (listed_layout_test.cc): of a layout that is listed and read again, each
// rank has the same regions in the same memory, each element the same holders,
// and a plan moves the same.
#ifndef VPS_LAYOUT_LISTING_LISTED_LAYOUT_H_
#define VPS_LAYOUT_LISTING_LISTED_LAYOUT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vps/layout/layout.h"
#include "vps/layout/listing/list_rank.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain::vps {

// The axis of a listed layout's only mesh: the rank itself. A listing doesn't
// say along which axes a job is parallel.
inline constexpr absl::string_view kRankAxis = "rank";

struct ListedLayout {
  Layout layout;
  LiveView live;  // names and buffers, as listed
};

// Tensors are in the order in which the ranks list them. Ranks that hold the
// same boxes in the same way hold them together; boxes that overlap those of a
// copy, because two ranks cut a tensor differently or one has it twice, make
// another copy. Memory is O(what is listed).
//
// Returns kInvalidArgument naming the rank, the tensor and the field if a rank
// of the world isn't listed; its memory is not as ListedMemory says; tensors
// overlap in a buffer; or the ranks together lack elements of a tensor, or hold
// parts of several cuts of it that make up no whole copies.
absl::StatusOr<ListedLayout> MakeListedLayout(Listing listing);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTING_LISTED_LAYOUT_H_
