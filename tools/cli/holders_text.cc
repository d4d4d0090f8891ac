#include "tools/cli/holders_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ranges_text.h"

namespace dynatrain::cli {

std::string HoldersText(const vps::HolderSet& holders) {
  constexpr int kMostGoneThrough = 4096;
  constexpr int kMostRuns = 8;
  std::vector<int> ranks;
  for (int i = 0; i < std::min<int>(holders.size(), kMostGoneThrough); ++i) {
    ranks.push_back(holders.rank(i));
  }
  std::sort(ranks.begin(), ranks.end());
  return absl::StrCat(holders.size() == 1 ? "rank " : "ranks ",
                      RangesText(ranks, kMostRuns, holders.size()));
}

}  // namespace dynatrain::cli
