#include "vps/layout/listed_index.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

namespace dynatrain::vps {
namespace {

int64_t PlacesAlong(absl::Span<const ListedMemory> parts, int dim) {
  absl::flat_hash_set<int64_t> begins;
  for (const ListedMemory& part : parts) {
    for (const ListedRegion& region : part.regions) {
      begins.insert(region.global.origin(dim));
    }
  }
  return static_cast<int64_t>(begins.size());
}

int DimWithMostPlaces(absl::Span<const ListedMemory> parts) {
  const bool none = parts.empty() || parts[0].regions.empty();
  const int dims = none ? 0 : parts[0].regions[0].global.dims();
  int best = 0;
  int64_t most = 0;
  for (int dim = 0; dim < dims; ++dim) {
    const int64_t places = PlacesAlong(parts, dim);
    if (places > most) {
      most = places;
      best = dim;
    }
  }
  return best;
}

}  // namespace

ListedRanks::ListedRanks(absl::Span<const std::vector<int>> ranks_of_parts) {
  for (size_t part = 0; part < ranks_of_parts.size(); ++part) {
    for (int rank : ranks_of_parts[part]) {
      part_of_rank_.emplace_back(rank, static_cast<int>(part));
    }
  }
  std::sort(part_of_rank_.begin(), part_of_rank_.end());
}

int ListedRanks::PartOf(int rank) const {
  const auto it = std::lower_bound(part_of_rank_.begin(), part_of_rank_.end(),
                                   std::pair(rank, 0));
  return it == part_of_rank_.end() || it->first != rank ? -1 : it->second;
}

ListedIndex::ListedIndex(absl::Span<const ListedMemory> parts)
    : parts_(parts), dim_(DimWithMostPlaces(parts)) {
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t region = 0; region < parts[part].regions.size(); ++region) {
      const Interval along = Along(parts[part].regions[region].global);
      entries_.push_back({along.begin, along.end, static_cast<int>(part),
                          static_cast<int>(region)});
    }
  }
  std::stable_sort(
      entries_.begin(), entries_.end(),
      [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  int64_t reaches = 0;
  for (Entry& entry : entries_) {
    reaches = std::max(reaches, entry.reaches);
    entry.reaches = reaches;
  }
}

// A scalar has no dim.
Interval ListedIndex::Along(const Box& box) const {
  return box.dims() == 0 ? Interval{0, 1} : box.interval(dim_);
}

void ListedIndex::ForEachMeeting(
    const Box& box,
    absl::FunctionRef<void(const Box& region, int part)> visit) const {
  const Interval along = Along(box);
  auto it = std::partition_point(
      entries_.begin(), entries_.end(),
      [&](const Entry& entry) { return entry.reaches <= along.begin; });
  absl::InlinedVector<std::pair<int, int>, 16> meeting;
  for (; it != entries_.end() && it->begin < along.end; ++it) {
    const Box& region = parts_[it->part].regions[it->region].global;
    if (Intersect(region, box).has_value()) {
      meeting.emplace_back(it->part, it->region);
    }
  }
  std::sort(meeting.begin(), meeting.end());
  for (const auto& [part, region] : meeting) {
    visit(parts_[part].regions[region].global, part);
  }
}

int ListedIndex::PartAt(absl::Span<const int64_t> index) const {
  std::array<int64_t, kMaxDims> one;
  one.fill(1);
  const auto shape = absl::MakeConstSpan(one).subspan(0, index.size());
  int found = -1;
  ForEachMeeting(Box::CreateUnchecked(index, shape),
                 [&](const Box&, int part) { found = part; });
  return found;
}

}  // namespace dynatrain::vps
