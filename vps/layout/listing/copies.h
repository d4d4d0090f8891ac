// Copies: which parts of a tensor, as ranks list them, make up whole tensors.
#ifndef VPS_LAYOUT_LISTING_COPIES_H_
#define VPS_LAYOUT_LISTING_COPIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"

namespace dynatrain::vps {

// What some ranks hold together of a tensor.
struct CopyPart {
  std::vector<Box> boxes;  // disjoint, none empty, at least one
  std::vector<int> ranks;  // ascending, at least one
  std::string live_name;   // parts of one copy have the same, as far as it goes
};

// The parts of each copy, by index: each part is in one copy, the boxes of a
// copy tile `whole`, and no rank has two parts of one. Nearly always all parts
// are one copy, which costs nothing to see. Of several copies that are cut
// differently (a tied embedding in two optimizers) each is followed from the
// first element that it still lacks to a part that begins there, with a bounded
// number of steps back.
//
// Returns kInvalidArgument naming elements that no part has, or a part that
// belongs to no whole copy, or saying that there are too many pieces to tell.
// REQUIRES: `whole` and `parts` are not empty, boxes
// lie in `whole`.
absl::StatusOr<std::vector<std::vector<int>>> CopiesOf(
    const Box& whole, absl::Span<const CopyPart> parts);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTING_COPIES_H_
