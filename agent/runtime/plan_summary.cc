#include "agent/runtime/plan_summary.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transition/plan/world.h"
#include "vps/layout/layout.h"
#include "vps/model/dtype.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::runtime {
namespace {

using nlohmann::json;

// `rank` -1: not in this world.
json TensorsToBind(const transition::World& world, int rank) {
  json tensors = json::array();
  if (rank < 0) return tensors;
  for (int i = 0; i < world.layout().num_tensors(); ++i) {
    const vps::TensorSpec& spec = world.layout().tensor(i);
    const auto shape = world.layout().LocalShapeOf(rank, i, /*copy=*/0);
    if (!shape.has_value()) continue;
    tensors.push_back(
        {{"index", i},
         {"name", spec.name()},
         {"state", spec.state()},
         {"dtype", std::string(vps::DtypeName(spec.dtype()))},
         {"local_shape", std::vector<int64_t>(shape->begin(), shape->end())}});
  }
  return tensors;
}

}  // namespace

json AgreedFigures(const ProcessTransition& transition) {
  const transition::ProcessPlan& plan = transition.plan();
  // Hashes as text: a reader of JSON may have no integers of 64 bits.
  return {{"plan_digest", transition.input().agreement().Text()},
          {"sent_hash", absl::StrCat(plan.sent_hash)},
          {"received_hash", absl::StrCat(plan.received_hash)}};
}

json PlanFigures(const ProcessTransition& transition) {
  const transition::ProcessPlan& plan = transition.plan();
  json figures = AgreedFigures(transition);
  figures["manifest_digest"] = transition.manifest_digest().Hex();
  figures["kept_bytes"] = plan.bytes.kept_bytes;
  figures["moved_bytes"] = plan.bytes.received_bytes;
  figures["minimal_bytes"] = plan.bytes.minimal_bytes;
  figures["staging_bytes"] = transition.staging_bytes();
  return figures;
}

json PlanSummary(const ProcessTransition& transition,
                 const std::map<std::string, double>& times_ms) {
  const transition::ProcessPlan& plan = transition.plan();
  json summary = PlanFigures(transition);
  summary["source_rank"] = plan.source_rank;
  summary["target_rank"] = plan.target_rank;
  summary["peers"] = plan.peers.size();
  summary["times_ms"] = times_ms;
  summary["sources"] =
      TensorsToBind(transition.input().source(), plan.source_rank);
  summary["targets"] =
      TensorsToBind(transition.input().target(), plan.target_rank);
  return summary;
}

}  // namespace dynatrain::runtime
