#include "tools/cli/plan_command.h"

#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/cli/picture/plan_picture.h"
#include "tools/cli/picture/trace.h"
#include "tools/cli/plan_alternatives.h"
#include "tools/cli/plan_json.h"
#include "tools/cli/plan_request.h"
#include "tools/cli/plan_result.h"
#include "tools/cli/plan_tables.h"
#include "tools/cli/progress.h"
#include "transition/preview/preview.h"
#include "transition/preview/proof.h"
#include "transition/preview/warnings.h"
#include "transition/preview/whole_runs.h"

namespace dynatrain::cli {
namespace {

transition::PreviewOptions OptionsOf(const PlanRequest& request) {
  transition::PreviewOptions options;
  options.schedule.execution = request.cluster.execution;
  options.pause = request.cluster.pause;
  options.place_of_process = request.places;
  // Stages refuse weights that nothing moves into.
  if (request.weights.weights.empty()) options.staging = request.staging;
  options.collectives = transition::CollectiveOptions();
  return options;
}

// Without stages, memory and collectives, which go through every region, where
// there are too many.
absl::StatusOr<transition::Preview> PreviewOf(const PlanRequest& request) {
  transition::PreviewOptions options = OptionsOf(request);
  absl::StatusOr<transition::Preview> preview =
      transition::MakePreview(request.input, request.cluster.model, options);
  if (!absl::IsOutOfRange(preview.status())) return preview;
  options.staging.reset();
  options.collectives.reset();
  return transition::MakePreview(request.input, request.cluster.model, options);
}

absl::StatusOr<PlanResult> MakeResult(const CommandLine& line,
                                      const Streams& streams) {
  Progress progress(streams.err, streams.err_is_terminal);
  progress.Now("reading the layouts");
  ASSIGN_OR_RETURN(PlanRequest request, LoadPlanRequest(line, streams.in));
  progress.Now("routing, scheduling and staging");
  ASSIGN_OR_RETURN(transition::Preview preview, PreviewOf(request));
  std::optional<transition::WholeRuns> runs;
  if (line.Has("runs")) {
    progress.Now("looking at how it lies in memory");
    runs = transition::ComputeWholeRuns(request.input);
  }
  std::optional<transition::Proof> proof;
  if (line.Has("check")) {
    progress.Now("checking all ranks' programs");
    ASSIGN_OR_RETURN(proof, transition::Prove(request.input, preview),
                     "--check");
  }
  std::vector<transition::Warning> warnings = transition::WarningsOf(preview);
  progress.Now("looking for better places");
  for (transition::Warning& better :
       BetterPlacements(request, preview, OptionsOf(request))) {
    warnings.push_back(std::move(better));
  }
  return PlanResult{.request = std::move(request),
                    .preview = std::move(preview),
                    .warnings = std::move(warnings),
                    .runs = std::move(runs),
                    .proof = std::move(proof)};
}

// What is wrong: memory is too small or the world too large, a file, or the
// command line.
ExitCode CodeOf(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return kRefused;
  return absl::IsNotFound(status) || absl::IsPermissionDenied(status)
             ? kBadInput
             : kBadUsage;
}

// "llama2-70b: tp8,pp4,dp4 to tp4,pp8,dp4".
std::string TitleOf(const PlanRequest& request) {
  return absl::StrCat(request.model, request.model.empty() ? "" : ": ",
                      request.from.text, " to ", request.to.text);
}

std::string TextOf(const PlanResult& result, absl::string_view format) {
  if (format == "json") return PlanJson(result);
  if (format == "svg") {
    return PlanPicture(TitleOf(result.request), result.preview);
  }
  return PlanText(result);
}

absl::Status WriteTraceFile(const std::string& path, const PlanResult& result) {
  std::ofstream file(path);
  WriteTrace(TitleOf(result.request), result.preview,
             [&](absl::string_view text) { file << text; });
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnknownError(
      absl::StrCat("--trace: ", path, " can't be written"));
}

}  // namespace

ExitCode RunPlan(const CommandLine& line, const Streams& streams) {
  const absl::StatusOr<PlanResult> result = MakeResult(line, streams);
  if (!result.ok()) {
    return streams.Fail(CodeOf(result.status()), result.status());
  }
  if (line.Has("trace")) {
    const absl::Status written = WriteTraceFile(line.Get("trace"), *result);
    if (!written.ok()) return streams.Fail(kBadOutput, written);
  }
  streams.out << TextOf(*result, line.Get("output", "table"));
  const bool refused = result->proof.has_value() && !result->proof->holds();
  return refused ? kRefused : kDone;
}

}  // namespace dynatrain::cli
