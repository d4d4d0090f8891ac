#include "tools/simulate/job_cache.h"

#include <algorithm>

#include "base/status_macros.h"

namespace dynatrain::simulate {

absl::StatusOr<RunningJob> JobCache::Get(const Shape& shape,
                                         bool distributed_optimizer,
                                         const std::vector<int>& nodes) {
  const int per_node = cluster_.figures().ranks_per_node;
  std::vector<int> ranks;
  for (int node : nodes) {
    for (int i = 0; i < per_node; ++i) ranks.push_back(node * per_node + i);
  }
  ASSIGN_OR_RETURN(const LaidOutJob job,
                   Layout({shape, distributed_optimizer, ranks.size()}));
  return RunOn(job, ranks, cluster_);
}

absl::StatusOr<LaidOutJob> JobCache::Layout(const Key& key) {
  const auto found =
      std::find_if(layouts_.begin(), layouts_.end(),
                   [&](const auto& it) { return it.first == key; });
  if (found != layouts_.end()) {
    std::rotate(found, found + 1, layouts_.end());
    return layouts_.back().second;
  }
  const auto& [shape, distributed_optimizer, ranks] = key;
  ASSIGN_OR_RETURN(LaidOutJob job, LayOut(model_, shape, distributed_optimizer,
                                          static_cast<int>(ranks)));
  if (layouts_.size() == kMostLayouts) layouts_.erase(layouts_.begin());
  return layouts_.emplace_back(key, std::move(job)).second;
}

}  // namespace dynatrain::simulate
