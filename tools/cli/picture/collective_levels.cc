#include "tools/cli/picture/collective_levels.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace dynatrain::cli {

std::vector<int> LevelsOf(
    const std::vector<transition::CollectiveTime>& collectives) {
  std::vector<int> order(collectives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return collectives[a].begin < collectives[b].begin;
  });
  std::vector<int> levels(collectives.size());
  std::vector<int64_t> ends;  // by level
  for (const int i : order) {
    const auto free = std::find_if(ends.begin(), ends.end(), [&](int64_t end) {
      return end <= collectives[i].begin;
    });
    levels[i] = static_cast<int>(free - ends.begin());
    if (free == ends.end()) {
      ends.push_back(collectives[i].end);
    } else {
      *free = collectives[i].end;
    }
  }
  return levels;
}

}  // namespace dynatrain::cli
