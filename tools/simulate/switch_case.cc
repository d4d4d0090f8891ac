#include "tools/simulate/switch_case.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/plan/make_input.h"
#include "vps/layout/layout.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;
using transition::PlanInput;
using transition::World;

absl::Status CheckProcesses(const World& world, const ClusterModel& cluster) {
  for (int rank = 0; rank < world.size(); ++rank) {
    const uint64_t id = world.process(rank).id;
    if (id > static_cast<uint64_t>(cluster.num_ranks())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", rank, " runs on rank ", id - 1, " of a cluster that has ",
          cluster.num_ranks(), " ranks"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SwitchCase> SwitchCase::Create(RunningJob source,
                                              RunningJob target,
                                              const ClusterModel& cluster) {
  if (source.world.empty()) {
    return absl::InvalidArgumentError("the source world has no ranks");
  }
  RETURN_IF_ERROR(CheckProcesses(source.world, cluster));
  RETURN_IF_ERROR(CheckProcesses(target.world, cluster));
  ASSIGN_OR_RETURN(transition::MadeInput made,
                   transition::MakePlanInput(std::move(source.world),
                                             std::move(target.world)));
  return SwitchCase(std::move(made.input), std::move(source.ranks),
                    std::move(target.ranks), cluster);
}

SwitchCase::SwitchCase(PlanInput input, vps::megatron::Ranks source_ranks,
                       vps::megatron::Ranks target_ranks,
                       const ClusterModel& cluster)
    : input_(std::move(input)),
      source_ranks_(std::move(source_ranks)),
      target_ranks_(std::move(target_ranks)),
      cluster_(cluster),
      union_on_(input_.num_processes()) {
  for (int rank = 0; rank < input_.source().size(); ++rank) {
    union_on_[input_.UnionIndexOfSource(rank)] = SourceOn(rank);
  }
  for (int rank = 0; rank < input_.target().size(); ++rank) {
    union_on_[input_.UnionIndexOfTarget(rank)] = TargetOn(rank);
  }
}

void SwitchCase::ForEachNeededPart(
    absl::FunctionRef<void(const NeededPart&)> visit) const {
  for (int rank = 0; rank < input_.target().size(); ++rank) {
    target().ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      const std::optional<vps::Box> box =
          vps::Intersect(region.global, input_.CommonBox(region.tensor));
      if (!box.has_value()) return;
      visit({.tensor = region.tensor,
             .source_tensor = input_.SourceTensor(region.tensor),
             .rank = rank,
             .copy = region.copy,
             .item_bytes = input_.tensor(region.tensor).item_bytes(),
             .box = *box});
    });
  }
}

}  // namespace dynatrain::simulate
