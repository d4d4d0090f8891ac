// JobCache: jobs on the nodes of a cluster. A layout is the same on whichever
// nodes, so those last used are kept by shape and size, and a trace that takes
// its nodes from ever other places is laid out once for each size.
#ifndef TOOLS_SIMULATE_JOB_CACHE_H_
#define TOOLS_SIMULATE_JOB_CACHE_H_

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
  // That are kept; of a model with tens of thousands of tensors each is tens of
  // MB.
  static constexpr size_t kMostLayouts = 32;

  JobCache(JobModel model, transition::ClusterModel cluster)
      : model_(std::move(model)), cluster_(std::move(cluster)) {}

  // The job on all ranks of `nodes`, node by node. Returns what LayOut and
  // RunOn return.
  absl::StatusOr<RunningJob> Get(const Shape& shape, bool distributed_optimizer,
                                 const std::vector<int>& nodes);

  const transition::ClusterModel& cluster() const { return cluster_; }

 private:
  using Key = std::tuple<Shape, bool, size_t>;  // ..., ranks

  absl::StatusOr<LaidOutJob> Layout(const Key& key);

  JobModel model_;
  transition::ClusterModel cluster_;
  std::vector<std::pair<Key, LaidOutJob>> layouts_;  // the last used last
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_JOB_CACHE_H_
