// SwitchCase: one change of layout as strategies see it: both worlds, how
// Megatron arranges their ranks, and which rank of the cluster runs each
// process.
#ifndef TOOLS_SIMULATE_SWITCH_CASE_H_
#define TOOLS_SIMULATE_SWITCH_CASE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/world.h"
#include "transition/schedule/cluster_model.h"
#include "vps/geometry/box.h"
#include "vps/layout/megatron/ranks.h"

namespace dynatrain::simulate {

// A job that runs: its world, and where its ranks stand on Megatron's meshes.
struct RunningJob {
  transition::World world;
  vps::megatron::Ranks ranks;
};

// The process on a rank of the cluster, for its whole life: ids are never 0.
constexpr uint64_t ProcessOn(int cluster_rank) {
  return static_cast<uint64_t>(cluster_rank) + 1;
}

// A box that a rank of the target world has to have and that the source world
// has, of one copy of a tensor.
struct NeededPart {
  int tensor = 0;         // index into the input's tensors
  int source_tensor = 0;  // the same tensor in the source's layout
  int rank = 0;           // of the target world
  int copy = 0;
  int64_t item_bytes = 0;
  vps::Box box;
};

class SwitchCase {
 public:
  // Returns what MakePlanInput returns, and kInvalidArgument if a process
  // is on no rank of the cluster or the source is empty.
  static absl::StatusOr<SwitchCase> Create(
      RunningJob source, RunningJob target,
      const transition::ClusterModel& cluster);

  const transition::PlanInput& input() const { return input_; }
  const vps::Layout& source() const { return input_.source().layout(); }
  const vps::Layout& target() const { return input_.target().layout(); }
  const vps::megatron::Ranks& source_ranks() const { return source_ranks_; }
  const vps::megatron::Ranks& target_ranks() const { return target_ranks_; }
  const transition::ClusterModel& cluster() const { return cluster_; }

  // The rank of the cluster that a rank of a world runs on.
  int SourceOn(int rank) const {
    return static_cast<int>(input_.source().process(rank).id - 1);
  }
  int TargetOn(int rank) const {
    return static_cast<int>(input_.target().process(rank).id - 1);
  }
  // That a process of either world runs on, by its union index
  // (PlanInput::num_processes).
  int UnionOn(int index) const { return union_on_[index]; }

  // All that all target ranks need: by rank, then as its layout lists it.
  void ForEachNeededPart(
      absl::FunctionRef<void(const NeededPart&)> visit) const;

 private:
  SwitchCase(transition::PlanInput input, vps::megatron::Ranks source_ranks,
             vps::megatron::Ranks target_ranks,
             const transition::ClusterModel& cluster);

  transition::PlanInput input_;
  vps::megatron::Ranks source_ranks_;
  vps::megatron::Ranks target_ranks_;
  transition::ClusterModel cluster_;
  std::vector<int> union_on_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_SWITCH_CASE_H_
