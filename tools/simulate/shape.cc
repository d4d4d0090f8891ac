#include "tools/simulate/shape.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/layout_text/layout_text.h"
#include "base/status_macros.h"
#include "transition/plan/world.h"
#include "vps/layout/megatron/megatron_config.h"
#include "vps/layout/megatron/megatron_layout.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;
using vps::megatron::MegatronConfig;
using vps::megatron::MegatronOptions;

constexpr absl::string_view kAxes = "tp, pp, dp, cp, ep, etp";

int* FindAxis(Shape& shape, absl::string_view name) {
  if (name == "tp") return &shape.tp;
  if (name == "pp") return &shape.pp;
  if (name == "dp") return &shape.dp;
  if (name == "cp") return &shape.cp;
  if (name == "ep") return &shape.ep;
  if (name == "etp") return &shape.etp;
  return nullptr;
}

// Middle stages have the same number of layers, the first and the last share
// what is left: 94 layers on 8 stages are 11, 6 x 12, 11.
void SpreadLayers(int64_t layers, MegatronOptions& options) {
  const int64_t stages = options.ranks.pp;
  if (stages == 1 || layers % stages == 0) return;
  const int64_t middle = (layers + stages - 1) / stages;
  const int64_t ends = layers - middle * (stages - 2);
  options.first_stage_layers = (ends + 1) / 2;
  options.last_stage_layers = ends / 2;
}

}  // namespace

absl::StatusOr<Shape> Shape::Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(const api::LayoutText layout, api::LayoutText::Parse(text));
  Shape shape;
  for (absl::string_view name : layout.names()) {
    int* const axis = FindAxis(shape, name);
    if (axis == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", name, *layout.Get(name), "\" is no axis (", kAxes,
                       "), and the rest is the same for all sizes"));
    }
    *axis = static_cast<int>(*layout.Get(name));
  }
  return shape;
}

int Shape::DataParallel(int ranks) const {
  if (ranks <= 0 || ranks % replica() != 0) return 0;
  const int found = ranks / replica();
  if (dp != 0 && found != dp) return 0;
  if (ep > 1 && ranks % expert_replica() != 0) return 0;
  return found;
}

std::string Shape::ToString(int ranks) const {
  Shape whole = *this;
  whole.dp = DataParallel(ranks);
  return whole.ToString();
}

std::string Shape::ToString() const {
  std::string text = absl::StrCat("tp", tp, ",pp", pp);
  if (dp > 0) absl::StrAppend(&text, ",dp", dp);
  if (cp > 1) absl::StrAppend(&text, ",cp", cp);
  if (ep > 1) absl::StrAppend(&text, ",ep", ep);
  if (etp > 0) absl::StrAppend(&text, ",etp", etp);
  return text;
}

absl::StatusOr<LaidOutJob> LayOut(const JobModel& model, const Shape& shape,
                                  bool distributed_optimizer, int num_ranks) {
  MegatronOptions options;
  options.ranks = {.world = num_ranks,
                   .tp = shape.tp,
                   .cp = shape.cp,
                   .pp = shape.pp,
                   .ep = shape.ep,
                   .etp = shape.etp};
  options.distributed_optimizer = distributed_optimizer;
  SpreadLayers(model.config->layers, options);
  ASSIGN_OR_RETURN(const MegatronConfig config,
                   MegatronConfig::Create(std::move(options)));
  ASSIGN_OR_RETURN(
      const vps::megatron::MegatronLayout layout,
      vps::megatron::MakeMegatronLayout(model.config, config, model.states));
  return LaidOutJob{layout.layout(), config.ranks()};
}

absl::StatusOr<RunningJob> RunOn(const LaidOutJob& job,
                                 const std::vector<int>& cluster_ranks,
                                 const ClusterModel& cluster) {
  std::vector<transition::Process> processes;
  for (int rank : cluster_ranks) {
    processes.push_back(
        {ProcessOn(rank), static_cast<uint32_t>(cluster.NodeOf(rank))});
  }
  ASSIGN_OR_RETURN(transition::World world,
                   transition::World::Create(job.layout, std::move(processes)));
  return RunningJob{std::move(world), job.ranks};
}

}  // namespace dynatrain::simulate
