#include "tools/cli/plan_command.h"

#include "absl/status/statusor.h"
#include "tools/cli/plan_request.h"
#include "tools/cli/plan_tables.h"
#include "transition/preview/preview.h"

namespace dynatrain::cli {
namespace {

transition::PreviewOptions OptionsOf(const PlanRequest& request) {
  transition::PreviewOptions options;
  options.schedule.execution = request.cluster.execution;
  options.pause = request.cluster.pause;
  options.place_of_process = request.places;
  return options;
}

// What is wrong with the command line, or with a file that it names.
ExitCode CodeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status)
             ? kBadUsage
             : kBadInput;
}

}  // namespace

ExitCode RunPlan(const CommandLine& line, const Streams& streams) {
  const absl::StatusOr<PlanRequest> request = LoadPlanRequest(line, streams.in);
  if (!request.ok()) {
    return streams.Fail(CodeOf(request.status()), request.status());
  }
  const absl::StatusOr<transition::Preview> preview = transition::MakePreview(
      request->input, request->cluster.model, OptionsOf(*request));
  if (!preview.ok()) return streams.Fail(kBadUsage, preview.status());
  streams.out << PlanText(*request, *preview);
  return kDone;
}

}  // namespace dynatrain::cli
