#include "tools/simulate/dynatrain_strategy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tools/simulate/flow_table.h"
#include "tools/simulate/weight_ring.h"
#include "transition/plan/make_input.h"
#include "transition/preview/planned_bytes.h"

namespace dynatrain::simulate {
namespace {

using transition::PlanInput;
using transition::PlannedBytes;

// The phases of a plan, whose union indices are those of `change`.
Movement MovementOf(const PlannedBytes& planned, const SwitchCase& change) {
  FlowTable flows;
  for (const transition::Flow& flow : planned.flows) {
    flows.Add(change.UnionOn(flow.sender), change.UnionOn(flow.receiver),
              flow.bytes);
  }
  int64_t copied = 0, verified = 0;
  for (const transition::ProcessBytes& process : planned.processes) {
    copied = std::max(copied, process.sums.copied_bytes());
    verified =
        std::max(verified, process.sent_bytes + process.sums.moved_bytes);
  }
  Movement movement;
  movement.phases.push_back(
      {.name = "copy", .resource = Resource::kDevice, .busiest_bytes = copied});
  movement.phases.push_back({.name = "transfer", .flows = flows.Flows()});
  movement.phases.push_back({.name = "verify",
                             .resource = Resource::kDigest,
                             .busiest_bytes = verified});
  return movement;
}

}  // namespace

absl::StatusOr<Movement> DynaTrainStrategy::Plan(
    const SwitchCase& change) const {
  if (weights_ == Weights::kMoved) {
    return MovementOf(transition::ComputePlannedBytes(change.input()), change);
  }
  ASSIGN_OR_RETURN(
      const transition::MadeInput made,
      transition::MakePlanInput(
          change.input().source(), change.input().target(),
          {.weights = {.cast = transition::WeightCast::kNearestEven}}));
  std::vector<bool> is_cast(made.input.num_tensors());
  for (const transition::Regenerated& it : made.weights.weights) {
    is_cast[it.weight] = true;
  }
  Movement movement =
      MovementOf(transition::ComputePlannedBytes(made.input), change);
  Phase gather = {
      .name = "gather weights",
      .flows = WeightRing(change, [&](int tensor) { return is_cast[tensor]; }),
      .needs_source = false};
  movement.phases.insert(movement.phases.end() - 1, std::move(gather));
  return movement;
}

}  // namespace dynatrain::simulate
