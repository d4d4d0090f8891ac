#include "vps/layout/listing/list_rank.h"

#include <utility>

namespace dynatrain::vps {
namespace {

// Puts regions, which come tensor by tensor and copy by copy, into tensors.
class Lister {
 public:
  Lister(const Layout& layout, const LiveView& live, int rank)
      : layout_(layout), live_(live), listing_{.rank = rank} {}

  void Add(const OwnedRegion& region) {
    if (region.tensor != tensor_ || region.copy != copy_) Begin(region);
    listing_.tensors.back().regions.push_back(
        {region.global, region.offset, region.strides});
  }

  RankListing Take() && { return std::move(listing_); }

 private:
  void Begin(const OwnedRegion& region) {
    tensor_ = region.tensor;
    copy_ = region.copy;
    const int rank = listing_.rank;
    const LocalShape shape = *layout_.LocalShapeOf(rank, tensor_, copy_);
    listing_.tensors.push_back(
        {layout_.tensor(tensor_),
         live_.name ? live_.name(rank, tensor_, copy_) : std::string(),
         std::vector<int64_t>(shape.begin(), shape.end()),
         {}});
    const int buffer = layout_.BufferOf(rank, tensor_, copy_);
    if (buffer == Storage::kOwnTensor) return;
    ListedTensor& tensor = listing_.tensors.back();
    tensor.buffer = layout_.buffers()[buffer];
    tensor.buffer_offset = layout_.BufferOffset(rank, tensor_, copy_);
  }

  const Layout& layout_;
  const LiveView& live_;
  RankListing listing_;
  int tensor_ = -1;
  int copy_ = -1;
};

}  // namespace

RankListing ListRank(const Layout& layout, const LiveView& live, int rank) {
  Lister lister(layout, live, rank);
  layout.ForEachRegion(rank,
                       [&](const OwnedRegion& region) { lister.Add(region); });
  RankListing listing = std::move(lister).Take();
  if (live.buffers) listing.buffers = live.buffers(rank);
  return listing;
}

RankListing ListRank(const Layout& layout, const LiveView& live, int rank,
                     absl::Span<const int> tensors) {
  Lister lister(layout, live, rank);
  for (int tensor : tensors) {
    layout.ForEachRegionOf(
        rank, tensor, [&](const OwnedRegion& region) { lister.Add(region); });
  }
  return std::move(lister).Take();
}

}  // namespace dynatrain::vps
