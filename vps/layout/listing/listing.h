// Listing: what ranks hold, written out, as a live job dumps it and as a layout
// is printed. Two layouts are compared as two listings (comparison.h).
//
//   ASSIGN_OR_RETURN(Listing live, Listing::Create("megatron", "0.16.1", 8,
//                                                  std::move(ranks)));
//   for (const RankListing& rank : live.ranks()) ...
#ifndef VPS_LAYOUT_LISTING_LISTING_H_
#define VPS_LAYOUT_LISTING_LISTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vps/geometry/box.h"
#include "vps/layout/listed_copy.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {

// Regions of one tensor on one rank at most. A flat shard of an N-D tensor has
// 2N-1 per block that it touches; a number beyond this is a mistake, and boxes
// are compared in pairs.
inline constexpr size_t kMaxListedRegions = 4096;

// What one rank holds of one tensor. `local_shape` is that of its storage: the
// local tensor, or [n] for a flat shard; it may be empty (an extent of 0).
struct ListedTensor {
  TensorSpec spec;
  std::string live_name;  // on this rank; may be empty
  std::vector<int64_t> local_shape;
  std::vector<ListedRegion> regions;
  // The flat buffer in which the storage lies, if it is said, and where it
  // begins there, in elements of the tensor's dtype.
  std::string buffer = {};
  int64_t buffer_offset = 0;
  friend bool operator==(const ListedTensor&, const ListedTensor&) = default;
};

// A flat buffer of a rank, in elements: where its tensors begin and end, and
// how it is cut into buckets.
struct ListedBuffer {
  struct Bucket {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t unpadded = 0;  // elements that are no padding at the end
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  struct Entry {
    std::string live_name;
    int64_t begin = 0;
    int64_t end = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  std::string name;
  int64_t elements = 0;
  std::vector<Bucket> buckets;
  std::vector<Entry> tensors;
  friend bool operator==(const ListedBuffer&, const ListedBuffer&) = default;
};

struct RankListing {
  int rank = 0;
  std::vector<ListedTensor> tensors;
  std::vector<ListedBuffer> buffers;
  friend bool operator==(const RankListing&, const RankListing&) = default;
};

// OK if each tensor's regions are valid and disjoint, no (name, state) comes
// twice under one live name, and buffers hold what they say. Otherwise
// kInvalidArgument naming the tensor and the region by their places,
// "tensors[3] (name/state): regions[0].offset: ...".
absl::Status ValidateRank(const RankListing& rank);

class Listing {
 public:
  // Sorts by rank. Returns kInvalidArgument naming what is wrong if the world
  // is empty or too large, a rank is outside it or comes twice, one of them is
  // refused by ValidateRank, or two ranks differ in the dtype or the whole
  // shape of a tensor.
  static absl::StatusOr<Listing> Create(std::string framework,
                                        std::string framework_version,
                                        int64_t world_size,
                                        std::vector<RankListing> ranks);

  const std::string& framework() const { return framework_; }
  const std::string& framework_version() const { return framework_version_; }
  int world_size() const { return world_size_; }
  // Ascending; not all ranks of the world need be there.
  const std::vector<RankListing>& ranks() const { return ranks_; }
  // nullptr if `rank` isn't listed.
  const RankListing* Find(int rank) const;

  friend bool operator==(const Listing&, const Listing&) = default;

 private:
  Listing() = default;

  std::string framework_;
  std::string framework_version_;
  int world_size_ = 0;
  std::vector<RankListing> ranks_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTING_LISTING_H_
