#include "tools/simulate/sizing.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;

constexpr int kMaxStages = 16;
constexpr double kGib = int64_t{1} << 30;

int64_t OptimizerBytes(const vps::StateList& states) {
  int64_t bytes = 0;
  for (const vps::StateClass& state : states.states()) {
    if (state.placement == vps::StatePlacement::kOptimizer) {
      bytes += vps::ItemBytes(state.dtype);
    }
  }
  return bytes;
}

std::vector<Shape> AllShapes(const JobModel& model,
                             const ClusterModel& cluster) {
  const int64_t experts =
      model.config->experts.has_value() ? model.config->experts->count : 1;
  std::vector<Shape> shapes;
  for (int tp = 1; tp <= cluster.figures().ranks_per_node; tp *= 2) {
    for (int pp = 1; pp <= kMaxStages && pp <= model.config->layers; pp *= 2) {
      for (int ep = 1; ep <= experts && ep <= cluster.num_ranks(); ep *= 2) {
        shapes.push_back(
            {.tp = tp, .pp = pp, .ep = ep, .etp = experts > 1 ? 1 : 0});
      }
    }
  }
  return shapes;
}

}  // namespace

absl::StatusOr<Sizer> Sizer::Create(JobModel model, std::vector<Shape> shapes,
                                    ClusterModel cluster,
                                    const StepFigures& figures,
                                    int64_t memory_bytes) {
  RETURN_IF_ERROR(CheckStepFigures(figures));
  if (memory_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory: ", memory_bytes, " bytes are below 0"));
  }
  const bool listed = !shapes.empty();
  if (!listed) shapes = AllShapes(model, cluster);
  Sizer sizer(std::move(model), std::move(shapes), std::move(cluster), figures,
              memory_bytes);
  if (listed) {
    for (const Shape& shape : sizer.shapes_) {
      RETURN_IF_ERROR(sizer.CheckSomewhere(shape));
    }
  }
  const int nodes = sizer.cluster_.figures().num_nodes;
  if (!sizer.Best(nodes).has_value()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "no layout of %s fits %d nodes, with %.1f GiB of a rank's %.1f GiB "
        "reserved",
        sizer.model_.name, nodes, figures.reserved_bytes / kGib,
        memory_bytes / kGib));
  }
  return sizer;
}

absl::Status Sizer::CheckSize(const Shape& shape, int nodes) const {
  const int ranks = RanksOf(nodes);
  if (shape.DataParallel(ranks) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(ranks, " ranks can't be divided by ", shape.replica(),
                     " (tp * pp * cp", shape.dp > 0 ? " * dp" : "", ") and by ",
                     shape.expert_replica(), " (etp * ep * pp)"));
  }
  const int64_t bytes = MemoryOf(model_.config, shape, ranks,
                                 OptimizerBytes(model_.states), figures_);
  if (memory_bytes_ > 0 && bytes > memory_bytes_) {
    return absl::InvalidArgumentError(
        absl::StrFormat("on %d ranks one needs %.1f GiB and has %.1f GiB",
                        ranks, bytes / kGib, memory_bytes_ / kGib));
  }
  return absl::OkStatus();
}

absl::Status Sizer::CheckLayout(const Shape& shape, int nodes) const {
  return LayOut(model_, shape, /*distributed_optimizer=*/true, RanksOf(nodes))
      .status();
}

absl::Status Sizer::CheckSomewhere(const Shape& shape) const {
  absl::Status why;
  for (int nodes = cluster_.figures().num_nodes; nodes > 0; --nodes) {
    const absl::Status status = CheckSize(shape, nodes);
    if (status.ok()) {
      why = CheckLayout(shape, nodes);
      break;
    }
    if (why.ok()) why = status;
  }
  if (why.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("layout ", shape.ToString(),
                   " fits no number of nodes: ", why.message()));
}

std::optional<Sizing> Sizer::BestOfExactly(int nodes) const {
  std::vector<Sizing> found;
  for (const Shape& shape : shapes_) {
    if (!CheckSize(shape, nodes).ok()) continue;
    const int ranks = RanksOf(nodes);
    found.push_back(
        {shape, nodes, ranks,
         StepTimeOf(model_.config, shape, ranks, cluster_, figures_).ns()});
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const Sizing& a, const Sizing& b) { return a.step_ns < b.step_ns; });
  for (const Sizing& sizing : found) {
    if (CheckLayout(sizing.shape, nodes).ok()) return sizing;
  }
  return std::nullopt;
}

std::optional<Sizing> Sizer::Best(int nodes) {
  std::optional<Sizing> best;
  int run = nodes;
  for (; run > 0 && !best.has_value(); --run) {
    if (const auto it = best_.find(run); it != best_.end()) {
      best = it->second;
      break;
    }
    best = BestOfExactly(run);
  }
  for (int more = run + 1; more <= nodes; ++more) best_[more] = best;
  return best;
}

}  // namespace dynatrain::simulate
