// Regions as tests write them: "[0:2, 0:3] at 6".
#ifndef VPS_LAYOUT_REGIONS_TESTUTIL_H_
#define VPS_LAYOUT_REGIONS_TESTUTIL_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "vps/layout/layout.h"

namespace dynatrain::vps {

inline std::string RegionText(const OwnedRegion& region) {
  return absl::StrCat(region.global.DebugString(), " at ", region.offset);
}

// Those of all copies of one tensor, in the order of the layout.
inline std::vector<std::string> RegionsOf(const Layout& layout, int rank,
                                          int tensor) {
  std::vector<std::string> texts;
  layout.ForEachRegionOf(rank, tensor, [&](const OwnedRegion& region) {
    texts.push_back(RegionText(region));
  });
  return texts;
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_REGIONS_TESTUTIL_H_
