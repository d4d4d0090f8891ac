// PlanResult: all that `dynatrain plan` shows, in whatever form.
#ifndef TOOLS_CLI_PLAN_RESULT_H_
#define TOOLS_CLI_PLAN_RESULT_H_

#include <optional>
#include <vector>

#include "tools/cli/plan_request.h"
#include "transition/preview/preview.h"
#include "transition/preview/proof.h"
#include "transition/preview/warnings.h"
#include "transition/preview/whole_runs.h"

namespace dynatrain::cli {

struct PlanResult {
  PlanRequest request;
  transition::Preview preview;
  std::vector<transition::Warning> warnings;
  std::optional<transition::WholeRuns> runs;  // if they were asked for
  std::optional<transition::Proof> proof;     // if it was asked for

  bool grouped() const {
    return request.cluster.execution == transition::Execution::kGrouped;
  }
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PLAN_RESULT_H_
