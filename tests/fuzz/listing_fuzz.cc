// Any text as a listing: it is refused with a reason, or it is read again as it
// is written; if it makes a layout, that can be walked, and listing it and
// reading that makes the same regions.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/listing/json_codec.h"
#include "tests/fuzz/layout_walk.h"
#include "vps/layout/listing/list_rank.h"
#include "vps/layout/listing/listed_layout.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain {
namespace {

using fuzz::Require;

void CheckLayout(const vps::Listing& listing) {
  const absl::StatusOr<vps::ListedLayout> listed =
      vps::MakeListedLayout(listing);
  if (!listed.ok()) return Require(!listed.status().message().empty());
  fuzz::Walk(listed->layout);
  for (int rank = 0; rank < listing.world_size(); ++rank) {
    size_t regions = 0, given = 0;
    for (const vps::ListedTensor& tensor :
         vps::ListRank(listed->layout, listed->live, rank).tensors) {
      regions += tensor.regions.size();
    }
    for (const vps::ListedTensor& tensor : listing.Find(rank)->tensors) {
      for (const vps::ListedRegion& region : tensor.regions) {
        given += region.global.empty() ? 0 : 1;
      }
    }
    Require(regions == given);
  }
}

}  // namespace
}  // namespace dynatrain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace api = dynatrain::api;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  api::IsListing(text);
  const auto listing = api::DecodeListing(text);
  if (!listing.ok()) {
    dynatrain::fuzz::Require(!listing.status().message().empty());
    return 0;
  }
  const auto again = api::DecodeListing(api::EncodeListing(*listing));
  dynatrain::fuzz::Require(again.ok() && *again == *listing);
  if (listing->world_size() <= 32) dynatrain::CheckLayout(*listing);
  return 0;
}
