// JobCache: jobs on the nodes of a cluster, each laid out once however often a
// trace comes back to it.
#ifndef TOOLS_SIMULATE_JOB_CACHE_H_
#define TOOLS_SIMULATE_JOB_CACHE_H_

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/simulate/shape.h"
#include "tools/simulate/switch_case.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::simulate {

class JobCache {
 public:
  JobCache(JobModel model, transition::ClusterModel cluster)
      : model_(std::move(model)), cluster_(std::move(cluster)) {}

  // The job on all ranks of `nodes`, node by node. Returns what MakeJob
  // returns.
  absl::StatusOr<RunningJob> Get(const Shape& shape, bool distributed_optimizer,
                                 const std::vector<int>& nodes);

  const transition::ClusterModel& cluster() const { return cluster_; }

 private:
  using Key = std::tuple<Shape, bool, std::vector<int>>;

  JobModel model_;
  transition::ClusterModel cluster_;
  std::map<Key, RunningJob> jobs_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_JOB_CACHE_H_
