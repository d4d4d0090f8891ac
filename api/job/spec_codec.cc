#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/job/job.h"
#include "api/json/reader.h"
#include "base/status_macros.h"

namespace dynatrain::api {
namespace {

// The same limits as in crds/elastictrainingjobs.yaml.
constexpr int kMaxReplicas = 4096;
constexpr int kMaxRanksPerReplica = 64;
constexpr int kMaxAxis = 65536;
constexpr int kMaxSeconds = 86400;
constexpr int64_t kMaxParameters = 1'000'000'000'000'000;

// An axis is a number or {min, max}.
AxisRange ReadAxis(ObjectReader& parallelism, absl::string_view key,
                   AxisRange otherwise) {
  if (!parallelism.Has(key)) return otherwise;
  if (!parallelism.At(key).is_object()) {
    const int size = parallelism.Int(key, 1, kMaxAxis, 1);
    return {size, size};
  }
  ObjectReader range = parallelism.Object(key);
  AxisRange axis;
  axis.min = range.Int("min", 1, kMaxAxis, 1);
  axis.max = range.Int("max", 1, kMaxAxis, AxisRange::kNoLimit);
  if (axis.min > axis.max) {
    range.Refuse("min", absl::StrCat("is above max, ", axis.max));
  }
  parallelism.Merge(range.status());
  return axis;
}

ModelFacts ReadModel(ObjectReader& spec) {
  ObjectReader reader = spec.Object("model");
  ModelFacts out;
  out.heads = reader.Int("heads", 1, kMaxAxis, 0);
  out.layers = reader.Int("layers", 1, kMaxAxis, 0);
  out.experts = reader.Int("experts", 1, kMaxAxis, 0);
  out.parameters = reader.Int("parameters", 1, kMaxParameters, 0);
  spec.Merge(reader.status());
  return out;
}

Parallelism ReadParallelism(ObjectReader& spec) {
  ObjectReader reader = spec.Object("parallelism");
  Parallelism out;
  out.dp = ReadAxis(reader, "dp", out.dp);
  out.tp = ReadAxis(reader, "tp", out.tp);
  out.pp = ReadAxis(reader, "pp", out.pp);
  out.ep = ReadAxis(reader, "ep", out.ep);
  out.rep = ReadAxis(reader, "rep", out.rep);
  spec.Merge(reader.status());
  out.model = ReadModel(spec);
  return out;
}

ElasticPolicy ReadElasticPolicy(ObjectReader& spec) {
  ObjectReader reader = spec.Object("elasticPolicy");
  ElasticPolicy out;
  out.min_replicas = reader.Int("minReplicas", 1, kMaxReplicas, 1);
  out.max_replicas = reader.Int("maxReplicas", 1, kMaxReplicas, kMaxReplicas);
  out.infeasible_policy = static_cast<InfeasiblePolicy>(
      reader.Choice("infeasiblePolicy", {"Reject", "RoundDown"}));
  out.scale_up_delay =
      reader.Seconds("scaleUpDelaySeconds", 0, kMaxSeconds, out.scale_up_delay);
  out.transition_timeout = reader.Seconds("transitionTimeoutSeconds", 1,
                                          kMaxSeconds, out.transition_timeout);
  out.step_timeout =
      reader.Seconds("stepTimeoutSeconds", 1, kMaxSeconds, out.step_timeout);
  if (out.min_replicas > out.max_replicas) {
    reader.Refuse("minReplicas",
                  absl::StrCat("is above maxReplicas, ", out.max_replicas));
  }
  spec.Merge(reader.status());
  return out;
}

// The first container is the one that trains; the agent takes its command's
// place, and an image's own entrypoint can't be seen from here.
absl::Status CheckTemplate(const ObjectReader& spec) {
  ObjectReader pod = spec.Object("template").Object("spec");
  std::vector<ObjectReader> containers = pod.List("containers");
  RETURN_IF_ERROR(pod.status());
  if (containers.empty()) {
    pod.Refuse("containers", "has no container: the first one is to train");
    return pod.status();
  }
  ObjectReader& first = containers[0];
  const nlohmann::json& command = first.At("command");
  const bool texts = command.is_array() && !command.empty() &&
                     std::all_of(command.begin(), command.end(),
                                 [](const auto& c) { return c.is_string(); });
  if (!texts) {
    first.Refuse("command",
                 "is not a list of texts: the program to run must be named "
                 "here, because an image's entrypoint can't be seen");
  }
  RETURN_IF_ERROR(first.status());
  if (pod.Text("restartPolicy", "Never") != "Never") {
    pod.Refuse("restartPolicy",
               "is not Never: a pod that died is replaced, not restarted");
  }
  return pod.status();
}

absl::StatusOr<JobSpec> ReadSpec(ObjectReader& spec) {
  JobSpec out;
  out.replicas = spec.Int("replicas", 0, kMaxReplicas, 1);
  out.ranks_per_replica =
      spec.Int("ranksPerReplica", 1, kMaxRanksPerReplica, 1);
  out.elastic = ReadElasticPolicy(spec);
  out.parallelism = ReadParallelism(spec);
  out.pod_template = DumpJson(spec.At("template"));
  out.on_state_lost =
      static_cast<OnStateLost>(spec.Choice("onStateLost", {"Fail", "Restart"}));
  out.suspend = spec.Bool("suspend");
  if (out.replicas < out.elastic.min_replicas ||
      out.replicas > out.elastic.max_replicas) {
    spec.Refuse("replicas",
                absl::StrCat("is outside elasticPolicy's minReplicas ",
                             out.elastic.min_replicas, " to maxReplicas ",
                             out.elastic.max_replicas));
  }
  RETURN_IF_ERROR(spec.status());
  RETURN_IF_ERROR(CheckTemplate(spec));
  return out;
}

}  // namespace

absl::StatusOr<JobSpec> ParseJobSpec(absl::string_view json) {
  ASSIGN_OR_RETURN(const nlohmann::json value, ParseJson(json), "spec");
  ObjectReader reader(value, "spec");
  return ReadSpec(reader);
}

}  // namespace dynatrain::api
