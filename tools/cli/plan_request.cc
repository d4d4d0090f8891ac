#include "tools/cli/plan_request.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/layout_file/loaded_layout.h"
#include "api/layout_text/layout_text.h"
#include "api/layout_text/megatron_text.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/cli/files.h"
#include "tools/cli/job_options.h"
#include "tools/cli/load.h"
#include "tools/cli/plan_placement.h"

namespace dynatrain::cli {
namespace {

using transition::StagingOptions;
using Json = nlohmann::json;

constexpr char kDefaultStates[] = "bf16-mixed";

absl::Status CheckGiven(const CommandLine& line) {
  for (const char* option : {"from", "to", "cluster"}) {
    if (line.Has(option)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", option,
                     " is missing: plan needs --from, --to and "
                     "--cluster, as in --from tp8,pp4,dp4"));
  }
  return CheckStandardInput(line, {"from", "to", "cluster"});
}

// A preset's name, or "param:bfloat16,main:float32".
Json StatesField(const std::string& states) {
  if (!absl::StrContains(states, ':')) return states;
  return Json(std::vector<std::string>(absl::StrSplit(states, ',')));
}

absl::StatusOr<api::LoadedLayout> LoadSide(const CommandLine& line,
                                           const std::string& option,
                                           int max_ranks, std::istream& in) {
  const std::string given = line.Get(option);
  if (!api::LayoutText::Is(given)) return Load(given, in);
  const std::string context = absl::StrCat("--", option);
  ASSIGN_OR_RETURN(const api::LayoutText text, api::LayoutText::Parse(given),
                   context);
  if (!line.Has("model")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--model is missing: ", given, " is a layout of which model?"));
  }
  absl::StatusOr<api::LoadedLayout> loaded = api::LoadLayoutText(
      text,
      {ModelField(line.Get("model")),
       StatesField(line.Get("states", kDefaultStates)), max_ranks},
      [&](absl::string_view path) { return ReadText(std::string(path), in); });
  RETURN_IF_ERROR(loaded.status(), absl::StrCat(context, " ", given));
  return loaded;
}

// The place of the option's value among its choices.
template <typename Enum>
Enum ChoiceOf(const CommandLine& line, const std::string& option,
              const std::vector<std::string>& choices) {
  const auto it =
      std::find(choices.begin(), choices.end(), line.Get(option, choices[0]));
  return static_cast<Enum>(it - choices.begin());
}

// A number of `unit` bytes.
absl::StatusOr<int64_t> BytesOption(const CommandLine& line,
                                    const std::string& option, int64_t unit,
                                    int64_t otherwise) {
  if (!line.Has(option)) return otherwise;
  constexpr double kMost = 1e6;
  double value = 0;
  if (!absl::SimpleAtod(line.Get(option), &value) || !(value > 0) ||
      value > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option, ": \"", absl::CHexEscape(line.Get(option)),
                     "\" is not a number above 0 and up to ", kMost));
  }
  const int64_t bytes = std::llround(value * static_cast<double>(unit));
  if (bytes > 0) return bytes;
  return absl::InvalidArgumentError(
      absl::StrCat("--", option, ": \"", absl::CHexEscape(line.Get(option)),
                   "\" is less than a byte; give a larger number"));
}

absl::StatusOr<StagingOptions> StagingOf(const CommandLine& line,
                                         const api::ClusterFile& cluster) {
  StagingOptions options;
  options.stages.mode =
      ChoiceOf<transition::StageMode>(line, "mode", {"auto", "safe", "tight"});
  options.granularity = ChoiceOf<transition::Granularity>(
      line, "free-by", {"extents", "tensors", "buffers"});
  ASSIGN_OR_RETURN(
      options.stages.limit_bytes,
      BytesOption(line, "memory", int64_t{1} << 30, cluster.rank_memory_bytes));
  ASSIGN_OR_RETURN(options.stages.budget_bytes,
                   BytesOption(line, "budget", int64_t{1} << 20,
                               options.stages.budget_bytes));
  if (options.stages.budget_bytes < transition::kMinBudgetBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--budget: ", line.Get("budget"),
                     " MiB is too little; it must be at "
                     "least ",
                     transition::kMinBudgetBytes >> 20));
  }
  ASSIGN_OR_RETURN(options.extent_bytes,
                   BytesOption(line, "extent", int64_t{1} << 20, 1));
  if (options.extent_bytes > 1 &&
      options.granularity != transition::Granularity::kExtents) {
    return absl::InvalidArgumentError(
        absl::StrCat("--extent: with --free-by ", line.Get("free-by"),
                     " memory does not go by pages; give --free-by extents, or "
                     "leave one of them out"));
  }
  ASSIGN_OR_RETURN(options.dead_bytes,
                   BytesOption(line, "dead", int64_t{1} << 20, 0));
  return options;
}

// Masters are cast to nearest, as torch and Megatron do.
transition::InputOptions InputOptionsOf(const CommandLine& line) {
  transition::InputOptions options;
  const std::string weights = line.Get("weights", "moved");
  if (weights == "moved") return options;
  options.weights.cast = transition::WeightCast::kNearestEven;
  options.weights.always = weights == "regenerated";
  return options;
}

}  // namespace

absl::StatusOr<PlanRequest> LoadPlanRequest(const CommandLine& line,
                                            std::istream& in) {
  RETURN_IF_ERROR(CheckGiven(line));
  const std::string cluster_name = line.Get("cluster");
  ASSIGN_OR_RETURN(const api::ClusterFile cluster,
                   ReadCluster(cluster_name, in));
  ASSIGN_OR_RETURN(const StagingOptions staging, StagingOf(line, cluster));
  const int max_ranks = cluster.model.num_ranks();
  ASSIGN_OR_RETURN(api::LoadedLayout from,
                   LoadSide(line, "from", max_ranks, in));
  ASSIGN_OR_RETURN(api::LoadedLayout to, LoadSide(line, "to", max_ranks, in));
  const std::string model = to.model;
  const transition::InputOptions input_options = InputOptionsOf(line);
  ASSIGN_OR_RETURN(
      PlacedPlan placed,
      PlacePlan(PlacementOptions::Of(line), input_options, cluster.model,
                std::move(from.layout), std::move(to.layout)));
  return PlanRequest{.model = model,
                     .from = {line.Get("from"), std::move(placed.from_nodes)},
                     .to = {line.Get("to"), std::move(placed.to_nodes)},
                     .cluster_name = cluster_name,
                     .cluster = cluster,
                     .input = std::move(placed.made.input),
                     .input_options = input_options,
                     .weights = std::move(placed.made.weights),
                     .balance = placed.made.balance,
                     .places = std::move(placed.places),
                     .placement = PlacementOptions::Of(line),
                     .order = std::move(placed.order),
                     .staging = staging};
}

}  // namespace dynatrain::cli
