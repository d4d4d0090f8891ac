#include "vps/layout/listing/listing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::vps {
namespace {

absl::Status Invalid(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// Sweeps along dim 0: only boxes that share an index there are compared.
absl::Status ValidateDisjoint(const std::vector<ListedRegion>& regions) {
  std::vector<int> order;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (!regions[i].global.empty()) order.push_back(static_cast<int>(i));
  }
  const auto along = [&](int i) {
    const Box& box = regions[i].global;
    return box.dims() == 0 ? Interval{0, 1} : box.interval(0);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(along(a).begin, a) < std::pair(along(b).begin, b);
  });
  for (size_t i = 0; i < order.size(); ++i) {
    const Box& box = regions[order[i]].global;
    for (size_t j = i + 1; j < order.size(); ++j) {
      const Box& other = regions[order[j]].global;
      if (along(order[j]).begin >= along(order[i]).end) break;
      if (!Intersect(box, other).has_value()) continue;
      return Invalid(absl::StrCat(
          "regions[", order[j], "]: ", other.DebugString(),
          " overlaps regions[", order[i], "], ", box.DebugString()));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateTensor(const ListedTensor& tensor) {
  const std::optional<int64_t> elements = CheckedVolume(tensor.local_shape);
  for (int64_t extent : tensor.local_shape) {
    if (extent < 0 || !elements.has_value()) {
      return Invalid(
          absl::StrCat("local_shape: ", ShapeText(tensor.local_shape),
                       " is no shape: extents are not negative, and "
                       "their product fits 63 bits"));
    }
  }
  if (tensor.regions.size() > kMaxListedRegions) {
    return Invalid(absl::StrCat("regions: ", tensor.regions.size(),
                                " of them; at most ", kMaxListedRegions));
  }
  for (size_t i = 0; i < tensor.regions.size(); ++i) {
    RETURN_IF_ERROR(ValidateListedRegion(tensor.spec.whole(),
                                         tensor.local_shape, tensor.regions[i]),
                    absl::StrCat("regions[", i, "]"));
  }
  if (tensor.buffer.empty() && tensor.buffer_offset != 0) {
    return Invalid(absl::StrCat("buffer_offset: ", tensor.buffer_offset,
                                ", and no buffer is named"));
  }
  if (tensor.buffer_offset < 0 ||
      !CheckedAdd(tensor.buffer_offset, elements.value_or(0)).has_value()) {
    return Invalid(
        absl::StrCat("buffer_offset: ", tensor.buffer_offset,
                     " is negative, or its end doesn't fit 63 bits"));
  }
  return ValidateDisjoint(tensor.regions);
}

absl::Status ValidateBuffer(const ListedBuffer& buffer) {
  const auto within = [&](int64_t begin, int64_t end) {
    return 0 <= begin && begin <= end && end <= buffer.elements;
  };
  if (buffer.elements < 0) {
    return Invalid(absl::StrCat("elements: ", buffer.elements, " is negative"));
  }
  for (size_t i = 0; i < buffer.buckets.size(); ++i) {
    const ListedBuffer::Bucket& bucket = buffer.buckets[i];
    if (!within(bucket.begin, bucket.end) || bucket.unpadded < 0 ||
        bucket.unpadded > bucket.end - bucket.begin) {
      return Invalid(absl::StrCat("buckets[", i, "]: [", bucket.begin, ", ",
                                  bucket.end, ") with ", bucket.unpadded,
                                  " unpadded does not fit the ",
                                  buffer.elements, " elements of the buffer"));
    }
  }
  for (size_t i = 0; i < buffer.tensors.size(); ++i) {
    const ListedBuffer::Entry& entry = buffer.tensors[i];
    if (within(entry.begin, entry.end)) continue;
    return Invalid(absl::StrCat("tensors[", i, "] (", entry.live_name, "): [",
                                entry.begin, ", ", entry.end,
                                ") does not fit the ", buffer.elements,
                                " elements of the buffer"));
  }
  return absl::OkStatus();
}

// That all ranks mean the same by a name: dtype and whole shape.
class SameTensors {
 public:
  absl::Status Add(const RankListing& rank) {
    for (const ListedTensor& tensor : rank.tensors) {
      const auto [it, added] =
          known_.emplace(std::pair<absl::string_view, absl::string_view>(
                             tensor.spec.name(), tensor.spec.state()),
                         First{&tensor.spec, rank.rank});
      if (added || *it->second.spec == tensor.spec) continue;
      return Invalid(absl::StrCat(
          "rank ", rank.rank, ": ", tensor.spec.DebugString(), ", but on rank ",
          it->second.rank, " it is ", it->second.spec->DebugString()));
    }
    return absl::OkStatus();
  }

 private:
  struct First {
    const TensorSpec* spec;
    int rank;
  };
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>, First>
      known_;
};

}  // namespace

absl::Status ValidateRank(const RankListing& rank) {
  absl::flat_hash_set<std::array<absl::string_view, 3>> seen;
  for (size_t i = 0; i < rank.tensors.size(); ++i) {
    const ListedTensor& tensor = rank.tensors[i];
    const std::string place =
        absl::StrCat("tensors[", i, "] (", tensor.spec.Id(), ")");
    RETURN_IF_ERROR(ValidateTensor(tensor), place);
    if (!seen.insert(
                 {tensor.spec.name(), tensor.spec.state(), tensor.live_name})
             .second) {
      return Invalid(absl::StrCat(
          place,
          ": comes twice; copies of one tensor on one rank differ in "
          "live_name"));
    }
  }
  for (size_t i = 0; i < rank.buffers.size(); ++i) {
    RETURN_IF_ERROR(
        ValidateBuffer(rank.buffers[i]),
        absl::StrCat("buffers[", i, "] (", rank.buffers[i].name, ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Listing> Listing::Create(std::string framework,
                                        std::string framework_version,
                                        int64_t world_size,
                                        std::vector<RankListing> ranks) {
  if (world_size < 1 || world_size > kMaxWorldSize) {
    return Invalid(absl::StrCat("world_size: ", world_size, " is not in 1..",
                                kMaxWorldSize));
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  SameTensors same;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i].rank;
    if (rank < 0 || rank >= world_size) {
      return Invalid(absl::StrCat(
          "rank ", rank, " is outside of the world, 0..", world_size - 1));
    }
    if (i > 0 && ranks[i - 1].rank == rank) {
      return Invalid(absl::StrCat("rank ", rank, " comes twice"));
    }
    RETURN_IF_ERROR(ValidateRank(ranks[i]), absl::StrCat("rank ", rank));
    RETURN_IF_ERROR(same.Add(ranks[i]));
  }
  Listing listing;
  listing.framework_ = std::move(framework);
  listing.framework_version_ = std::move(framework_version);
  listing.world_size_ = static_cast<int>(world_size);
  listing.ranks_ = std::move(ranks);
  return listing;
}

const RankListing* Listing::Find(int rank) const {
  const auto it = std::lower_bound(
      ranks_.begin(), ranks_.end(), rank,
      [](const RankListing& listing, int r) { return listing.rank < r; });
  return it == ranks_.end() || it->rank != rank ? nullptr : &*it;
}

}  // namespace dynatrain::vps
