#include "tools/cli/simulate_command.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/cli/progress.h"
#include "tools/cli/simulate_json.h"
#include "tools/cli/simulate_request.h"
#include "tools/cli/simulate_tables.h"
#include "tools/simulate/comparison.h"
#include "tools/simulate/strategy.h"

namespace dynatrain::cli {
namespace {

using simulate::PaperCase;
using simulate::RunResult;

ExitCode CodeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status)
             ? kBadUsage
             : kBadInput;
}

absl::StatusOr<CaseResult> RunCase(const PaperCase& paper_case,
                                   const CaseRequest& request,
                                   Progress& progress) {
  CaseResult result = {.paper_case = paper_case};
  ASSIGN_OR_RETURN(const simulate::JobModel model,
                   simulate::ModelByName(paper_case.model));
  for (int nics : simulate::kNicBand) {
    progress.Now(
        absl::StrCat(paper_case.name, " with ", nics, " NICs per node"));
    ASSIGN_OR_RETURN(const transition::ClusterModel cluster,
                     simulate::WithNics(request.cluster.model, nics));
    ASSIGN_OR_RETURN(
        std::vector<simulate::StrategyTime> times,
        simulate::Compare(model, paper_case.from, paper_case.to, cluster,
                          request.assumptions.simulation.site));
    result.bands.push_back({nics, std::move(times)});
  }
  return result;
}

ExitCode RunCases(const CommandLine& line, const Streams& streams) {
  const absl::StatusOr<CaseRequest> request = LoadCases(line, streams.in);
  if (!request.ok()) {
    return streams.Fail(CodeOf(request.status()), request.status());
  }
  Progress progress(streams.err, streams.err_is_terminal);
  std::vector<CaseResult> results;
  for (const PaperCase* paper_case : request->cases) {
    absl::StatusOr<CaseResult> result =
        RunCase(*paper_case, *request, progress);
    if (!result.ok()) {
      progress.Done();
      return streams.Fail(kBadUsage, result.status());
    }
    results.push_back(*std::move(result));
  }
  progress.Done();
  streams.out << (line.Get("output") == "json" ? CasesJson(*request, results)
                                               : CasesText(*request, results));
  return kDone;
}

absl::StatusOr<std::vector<RunResult>> RunAll(TraceRequest& request,
                                              Progress& progress) {
  simulate::JobCache jobs(request.sizer.model(), request.cluster.model);
  std::vector<RunResult> results;
  for (const std::unique_ptr<simulate::Strategy>& strategy :
       simulate::AllStrategies()) {
    ASSIGN_OR_RETURN(
        results.emplace_back(),
        simulate::Simulate(
            request.trace, request.sizer, jobs, *strategy,
            request.assumptions.simulation, [&](int done, int total) {
              progress.Now(absl::StrCat(strategy->name(), ": ", done, " of ",
                                        total, " events"));
            }));
  }
  return results;
}

ExitCode RunTrace(const CommandLine& line, const Streams& streams) {
  absl::StatusOr<TraceRequest> request = LoadTrace(line, streams.in);
  if (!request.ok()) {
    return streams.Fail(CodeOf(request.status()), request.status());
  }
  Progress progress(streams.err, streams.err_is_terminal);
  const absl::StatusOr<std::vector<RunResult>> results =
      RunAll(*request, progress);
  progress.Done();
  if (!results.ok()) return streams.Fail(kBadUsage, results.status());
  streams.out << (line.Get("output") == "json" ? TraceJson(*request, *results)
                                               : TraceText(*request, *results));
  return kDone;
}

}  // namespace

ExitCode RunSimulate(const CommandLine& line, const Streams& streams) {
  return line.Has("case") ? RunCases(line, streams) : RunTrace(line, streams);
}

}  // namespace dynatrain::cli
