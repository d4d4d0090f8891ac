// Sizing: which layout a number of nodes runs: of the shapes that are allowed,
// that divide the ranks and fit in memory, the one with the shortest step by
// StepTime; of equals the first in the list. If no shape does, fewer nodes run
// and the others stand by.
#ifndef TOOLS_SIMULATE_SIZING_H_
#define TOOLS_SIMULATE_SIZING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/simulate/shape.h"
#include "tools/simulate/step_time.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::simulate {

struct Sizing {
  Shape shape;
  int nodes = 0;  // that run
  int ranks = 0;
  int64_t step_ns = 0;

  friend bool operator==(const Sizing&, const Sizing&) = default;
};

class Sizer {
 public:
  // `shapes`: those allowed; empty: tp up to a node's ranks and pp up to 16 in
  // powers of two, and of a model with experts ep likewise. `memory_bytes` of
  // one rank; 0: as much as it takes. Returns, with why, kInvalidArgument for a
  // figure out of range, memory below 0 or a listed shape that lays out the
  // model at no number of nodes; kFailedPrecondition if `shapes` is empty and
  // no shape lays it out at any.
  static absl::StatusOr<Sizer> Create(JobModel model, std::vector<Shape> shapes,
                                      transition::ClusterModel cluster,
                                      const StepFigures& figures,
                                      int64_t memory_bytes);

  // nullopt if no number of nodes up to `nodes` has a layout. Remembers what
  // it has found. REQUIRES: 0 <= nodes <= those of the cluster.
  std::optional<Sizing> Best(int nodes);

  const JobModel& model() const { return model_; }
  const StepFigures& figures() const { return figures_; }

 private:
  Sizer(JobModel model, std::vector<Shape> shapes,
        transition::ClusterModel cluster, const StepFigures& figures,
        int64_t memory_bytes)
      : model_(std::move(model)),
        shapes_(std::move(shapes)),
        cluster_(std::move(cluster)),
        figures_(figures),
        memory_bytes_(memory_bytes) {}

  // Why the shape has no layout on exactly so many nodes; OK if it may have.
  absl::Status CheckSize(const Shape& shape, int nodes) const;
  absl::Status CheckLayout(const Shape& shape, int nodes) const;
  absl::Status CheckSomewhere(const Shape& shape) const;
  std::optional<Sizing> BestOfExactly(int nodes) const;
  int RanksOf(int nodes) const {
    return nodes * cluster_.figures().ranks_per_node;
  }

  JobModel model_;
  std::vector<Shape> shapes_;
  transition::ClusterModel cluster_;
  StepFigures figures_;
  int64_t memory_bytes_;
  std::map<int, std::optional<Sizing>> best_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_SIZING_H_
