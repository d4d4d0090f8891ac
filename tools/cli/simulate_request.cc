#include "tools/cli/simulate_request.h"

#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/model/parse_model.h"
#include "base/nearest.h"
#include "base/status_macros.h"
#include "tools/cli/files.h"
#include "tools/cli/job_options.h"

namespace dynatrain::cli {
namespace {

constexpr char kAllCases[] = "paper";
constexpr char kCaseCluster[] = "a800x16";

absl::Status CheckGiven(const CommandLine& line) {
  for (const char* option : {"trace", "cluster", "model"}) {
    if (line.Has(option)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", option,
        " is missing: simulate needs --trace, --cluster and --model, or a "
        "--case"));
  }
  return CheckStandardInput(line, {"trace", "cluster"});
}

absl::StatusOr<simulate::Assumptions> AssumptionsOf(
    const CommandLine& line, const api::ClusterFile& cluster) {
  simulate::Assumptions assumptions;
  assumptions.simulation.site.pause = cluster.pause;
  assumptions.simulation.site.execution = cluster.execution;
  if (line.Has("assume")) {
    RETURN_IF_ERROR(simulate::Assume(line.Get("assume"), assumptions),
                    "--assume");
  }
  if (line.Has("until")) {
    double seconds = 0;
    const std::string text = line.Get("until");
    if (!absl::SimpleAtod(text, &seconds) || !(seconds > 0) ||
        !(seconds <= 10 * 365 * 86400.0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--until: \"", text,
                       "\" is no number of seconds above 0, up to ten years"));
    }
    assumptions.simulation.end_ns = std::llround(seconds * 1e9);
  }
  return assumptions;
}

absl::StatusOr<simulate::JobModel> ModelOf(const CommandLine& line,
                                           std::istream& in) {
  const std::string name = line.Get("model");
  absl::StatusOr<vps::ModelConfig> config = api::ParseModel(
      ModelField(name),
      [&](absl::string_view path) { return ReadText(std::string(path), in); });
  RETURN_IF_ERROR(config.status(), "--model");
  ASSIGN_OR_RETURN(vps::StateList states, vps::StateList::Preset("bf16-mixed"));
  return simulate::JobModel{name, *std::move(config), std::move(states)};
}

// "tp8,pp4 tp4,pp8": several words of one option.
absl::StatusOr<std::vector<simulate::Shape>> ShapesOf(const CommandLine& line) {
  std::vector<simulate::Shape> shapes;
  for (absl::string_view text :
       absl::StrSplit(line.Get("layouts"), ' ', absl::SkipEmpty())) {
    ASSIGN_OR_RETURN(shapes.emplace_back(), simulate::Shape::Parse(text),
                     "--layouts");
  }
  return shapes;
}

}  // namespace

absl::StatusOr<TraceRequest> LoadTrace(const CommandLine& line,
                                       std::istream& in) {
  RETURN_IF_ERROR(CheckGiven(line));
  ASSIGN_OR_RETURN(const api::ClusterFile cluster,
                   ReadCluster(line.Get("cluster"), in));
  ASSIGN_OR_RETURN(simulate::Assumptions assumptions,
                   AssumptionsOf(line, cluster));
  ASSIGN_OR_RETURN(simulate::JobModel model, ModelOf(line, in));
  ASSIGN_OR_RETURN(std::vector<simulate::Shape> shapes, ShapesOf(line));
  const std::string path = line.Get("trace");
  ASSIGN_OR_RETURN(const std::string csv, ReadText(path, in));
  ASSIGN_OR_RETURN(
      simulate::Trace trace,
      simulate::Trace::Parse(csv, cluster.model.figures().num_nodes), path);
  ASSIGN_OR_RETURN(simulate::Sizer sizer,
                   simulate::Sizer::Create(std::move(model), std::move(shapes),
                                           cluster.model, assumptions.step,
                                           cluster.rank_memory_bytes),
                   "--layouts");
  return TraceRequest{.trace_name = path,
                      .trace = std::move(trace),
                      .cluster_name = line.Get("cluster"),
                      .cluster = cluster,
                      .model = line.Get("model"),
                      .layouts = line.Get("layouts"),
                      .assumptions = assumptions,
                      .sizer = std::move(sizer)};
}

absl::StatusOr<CaseRequest> LoadCases(const CommandLine& line,
                                      std::istream& in) {
  for (const char* option : {"trace", "model", "layouts", "until"}) {
    if (!line.Has(option)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--case has its own ", option, "; give --case or --", option));
  }
  const std::string cluster_name = line.Get("cluster", kCaseCluster);
  ASSIGN_OR_RETURN(const api::ClusterFile cluster,
                   ReadCluster(cluster_name, in));
  ASSIGN_OR_RETURN(const simulate::Assumptions assumptions,
                   AssumptionsOf(line, cluster));
  CaseRequest request = {.cluster_name = cluster_name,
                         .cluster = cluster,
                         .assumptions = assumptions};
  for (const simulate::PaperCase& it : simulate::PaperCases()) {
    if (line.Get("case") == kAllCases || line.Get("case") == it.name) {
      request.cases.push_back(&it);
    }
  }
  return request;
}

}  // namespace dynatrain::cli
