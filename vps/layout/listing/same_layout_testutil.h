// Whether a layout that was listed and read again is the one that it was: for
// tests.
#ifndef VPS_LAYOUT_LISTING_SAME_LAYOUT_TESTUTIL_H_
#define VPS_LAYOUT_LISTING_SAME_LAYOUT_TESTUTIL_H_

#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vps/layout/layout.h"
#include "vps/layout/listing/list_rank.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain::vps {

inline Listing ListAll(const Layout& layout, const LiveView& live) {
  std::vector<RankListing> ranks;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    ranks.push_back(ListRank(layout, live, rank));
  }
  return *Listing::Create("torch", "", layout.world_size(), std::move(ranks));
}

inline std::vector<int> RanksOf(const HolderSet& holders) {
  std::vector<int> ranks;
  for (int i = 0; i < holders.size(); ++i) ranks.push_back(holders.rank(i));
  return ranks;
}

// All that a rank holds and where, copies left unnumbered.
inline std::multiset<std::string> HoldingsOf(const Layout& layout, int rank) {
  std::multiset<std::string> holdings;
  layout.ForEachRegion(rank, [&](const OwnedRegion& region) {
    OwnedRegion unnumbered = region;
    unnumbered.tensor = unnumbered.copy = 0;
    std::ostringstream text;
    text << layout.tensor(region.tensor).DebugString() << " " << unnumbered;
    const LocalShape shape =
        *layout.LocalShapeOf(rank, region.tensor, region.copy);
    const int buffer = layout.BufferOf(rank, region.tensor, region.copy);
    holdings.insert(
        absl::StrCat(text.str(), " of [", absl::StrJoin(shape, ", "), "] in ",
                     buffer < 0 ? "its own" : layout.buffers()[buffer], " at ",
                     layout.BufferOffset(rank, region.tensor, region.copy) *
                         (buffer < 0 ? 0 : 1)));
  });
  return holdings;
}

// The ranks that hold an element in any copy.
inline std::set<int> OwnersOf(const Layout& layout, int tensor,
                              const std::vector<int64_t>& index) {
  std::set<int> ranks;
  for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
    for (int rank : RanksOf(layout.Owners(tensor, copy, index))) {
      ranks.insert(rank);
    }
  }
  return ranks;
}

// What differs first between a layout and what was listed of it and read again,
// tensor by tensor, "" if nothing does: regions, local shapes and buffers of
// all ranks, and the owners of some elements.
inline std::string Difference(const Layout& layout, const Layout& listed,
                              std::mt19937_64& random) {
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    const auto expected = HoldingsOf(layout, rank);
    const auto actual = HoldingsOf(listed, rank);
    if (expected == actual) continue;
    return absl::StrCat("rank ", rank, " holds\n",
                        absl::StrJoin(expected, "\n"), "\nand as listed\n",
                        absl::StrJoin(actual, "\n"));
  }
  for (int t = 0; t < listed.num_tensors(); ++t) {
    const TensorSpec& spec = listed.tensor(t);
    const std::optional<int> original = layout.Find(spec.name(), spec.state());
    if (!original.has_value()) return absl::StrCat("there is no ", spec.Id());
    for (int i = 0; i < 4 && !spec.whole().empty(); ++i) {
      std::vector<int64_t> index;
      for (int64_t extent : spec.shape()) {
        index.push_back(
            std::uniform_int_distribution<int64_t>(0, extent - 1)(random));
      }
      const std::set<int> expected = OwnersOf(layout, *original, index);
      const std::set<int> actual = OwnersOf(listed, t, index);
      if (expected == actual) continue;
      return absl::StrCat("owners of ", spec.Id(), " [",
                          absl::StrJoin(index, ", "), "] are ",
                          absl::StrJoin(expected, ","), ", as listed ",
                          absl::StrJoin(actual, ","));
    }
  }
  return "";
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTING_SAME_LAYOUT_TESTUTIL_H_
