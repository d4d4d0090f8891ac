// Listings as JSON (docs/design/0002-space.md): what a live job dumped, and
// what `dynatrain layout FILE -o json` prints.
//
//   ASSIGN_OR_RETURN(vps::Listing live, DecodeListing(text));
//
//   std::string text;
//   ListingEncoder encoder({.framework = "torch", .world_size = 2}, append);
//   for (const vps::RankListing& rank : ranks) encoder.Add(rank);
//   encoder.Finish();
#ifndef API_LISTING_JSON_CODEC_H_
#define API_LISTING_JSON_CODEC_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain::api {

// Bytes of a listing at most: a world of 1,024 ranks with 1,000 tensors each is
// a fifth of it.
inline constexpr size_t kMaxListingBytes = size_t{2} << 30;

// Whether a text is a listing and no layout file (api/layout_file), by the
// first of its keys that only one of them has. False if it is neither.
bool IsListing(absl::string_view text);

// Reads a listing; its text is gone through once, and only what it means is
// kept. Returns kInvalidArgument if it is no JSON ("not JSON: ... at line 3,
// ..."), has a field that isn't known or lacks one, or is refused by
// Listing::Create; the message names the place, as in
//   listing: ranks[1].tensors[7].dtype: unknown dtype "float31"; ...
// What may be absent, and what that means: FIELDS in the .cc.
absl::StatusOr<vps::Listing> DecodeListing(absl::string_view text);

// Writes a listing rank by rank, one tensor per line, so that a large world is
// never in memory as a whole and texts can be compared by line.
class ListingEncoder {
 public:
  struct World {
    std::string framework;
    std::string framework_version;
    int world_size = 1;
  };
  using Sink = absl::FunctionRef<void(absl::string_view)>;

  // `sink` gets the text in order; it must outlive the encoder.
  ListingEncoder(const World& world, Sink sink);
  void Add(const vps::RankListing& rank);
  // REQUIRES: called once, last.
  void Finish();

 private:
  Sink sink_;
  bool first_ = true;
};

// The whole of a listing.
std::string EncodeListing(const vps::Listing& listing);

}  // namespace dynatrain::api

#endif  // API_LISTING_JSON_CODEC_H_
