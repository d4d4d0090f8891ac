#include "tools/simulate/step_time.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/model/model_size.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;

constexpr double kActivationBytes = 2;  // bfloat16
constexpr double kGradientBytes = 4;    // float32
constexpr double kWeightBytes = 2;      // bfloat16
constexpr int kExchangesPerLayer = 4;   // two forward, two backward

absl::Status CheckFigure(const char* name, double value, double least,
                         double most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", value, " is not in [", least, ", ", most, "]"));
}

// Bytes per second of one rank in a ring over `ranks` neighbours.
double RingRate(const ClusterModel& cluster, int ranks) {
  const double inside = cluster.figures().inside_bytes_per_second;
  if (ranks <= cluster.figures().ranks_per_node) return inside;
  const double share = static_cast<double>(cluster.NodeBytesPerSecond()) /
                       cluster.figures().ranks_per_node;
  return std::min(inside, share);
}

struct LocalParameters {
  double dense = 0;
  double experts = 0;
  double all() const { return dense + experts; }
};

LocalParameters LocalOf(const vps::ModelConfig& model, const Shape& shape) {
  const vps::ModelSize size = vps::SizeOf(model);
  const double experts = size.expert_parameters;
  return {(size.parameters() - experts) / (shape.tp * shape.pp),
          experts / shape.expert_replica()};
}

double ParametersPerToken(const vps::ModelConfig& model,
                          const StepFigures& figures) {
  const vps::ModelSize size = vps::SizeOf(model);
  const double experts = size.expert_parameters;
  if (!model->experts.has_value()) return size.parameters();
  const double passed =
      std::min<double>(figures.experts_per_token, model->experts->count) /
      model->experts->count;
  return size.parameters() - experts + experts * passed;
}

// Five of them add up without overflow.
int64_t ToNs(double seconds) {
  return std::llround(std::clamp(seconds * 1e9, 0.0, 1e18));
}

}  // namespace

absl::Status CheckStepFigures(const StepFigures& figures) {
  RETURN_IF_ERROR(
      CheckFigure("sequence_tokens", figures.sequence_tokens, 1, 1 << 24));
  RETURN_IF_ERROR(CheckFigure("batch_tokens", figures.batch_tokens,
                              figures.sequence_tokens, 1e12));
  RETURN_IF_ERROR(
      CheckFigure("tflops", figures.flops_per_second / 1e12, 1e-6, 1e6));
  RETURN_IF_ERROR(CheckFigure("efficiency", figures.efficiency, 1e-3, 1));
  RETURN_IF_ERROR(
      CheckFigure("experts_per_token", figures.experts_per_token, 1, 1 << 20));
  RETURN_IF_ERROR(CheckFigure("data_overlap", figures.data_overlap, 0, 1));
  return CheckFigure("reserved_gib", figures.reserved_bytes / double{1 << 30},
                     0, 1e6);
}

StepTime StepTimeOf(const vps::ModelConfig& model, const Shape& shape,
                    int ranks, const ClusterModel& cluster,
                    const StepFigures& figures) {
  const int dp = shape.DataParallel(ranks);
  const int64_t sequences =
      std::max<int64_t>(1, figures.batch_tokens / figures.sequence_tokens);
  const int64_t microbatches = (sequences + dp - 1) / dp;
  const double tokens =
      static_cast<double>(microbatches) * dp * figures.sequence_tokens;
  StepTime time;
  const double compute =
      6 * ParametersPerToken(model, figures) * tokens /
      (ranks * figures.flops_per_second * figures.efficiency);
  time.compute_ns = ToNs(compute);
  time.bubble_ns = ToNs(compute * (shape.pp - 1) / microbatches);

  const double passing = microbatches + shape.pp - 1;
  const double layers =
      static_cast<double>(model->layers) / shape.pp * kExchangesPerLayer;
  const double activation =
      kActivationBytes * figures.sequence_tokens / shape.cp * model->hidden;
  time.tensor_ns = ToNs(passing * layers * activation * 2 * (shape.tp - 1) /
                        shape.tp / RingRate(cluster, shape.tp));
  if (model->experts.has_value()) {
    time.expert_ns =
        ToNs(passing * layers * activation * figures.experts_per_token /
             shape.tp * (shape.ep - 1) / shape.ep /
             RingRate(cluster, shape.ep * shape.expert_tp()));
  }
  const LocalParameters local = LocalOf(model, shape);
  const int shards = dp * shape.cp;
  time.data_ns = ToNs((1 - figures.data_overlap) * local.all() *
                      (kGradientBytes + kWeightBytes) * (shards - 1) / shards /
                      RingRate(cluster, shards * shape.tp));
  return time;
}

int64_t MemoryOf(const vps::ModelConfig& model, const Shape& shape, int ranks,
                 int64_t optimizer_bytes, const StepFigures& figures) {
  const LocalParameters local = LocalOf(model, shape);
  const double dense_shards = shape.DataParallel(ranks) * shape.cp;
  const double expert_shards =
      static_cast<double>(ranks) / shape.expert_replica();
  const double state = local.all() * (kWeightBytes + kGradientBytes) +
                       optimizer_bytes * (local.dense / dense_shards +
                                          local.experts / expert_shards);
  return static_cast<int64_t>(state) + figures.reserved_bytes;
}

}  // namespace dynatrain::simulate
