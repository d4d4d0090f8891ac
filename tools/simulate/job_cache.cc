#include "tools/simulate/job_cache.h"

#include "base/status_macros.h"

namespace dynatrain::simulate {

absl::StatusOr<RunningJob> JobCache::Get(const Shape& shape,
                                         bool distributed_optimizer,
                                         const std::vector<int>& nodes) {
  const Key key = {shape, distributed_optimizer, nodes};
  if (const auto it = jobs_.find(key); it != jobs_.end()) return it->second;
  const int per_node = cluster_.figures().ranks_per_node;
  std::vector<int> ranks;
  for (int node : nodes) {
    for (int i = 0; i < per_node; ++i) ranks.push_back(node * per_node + i);
  }
  ASSIGN_OR_RETURN(RunningJob job, MakeJob(model_, shape, distributed_optimizer,
                                           ranks, cluster_));
  return jobs_.insert({key, std::move(job)}).first->second;
}

}  // namespace dynatrain::simulate
