// Whether the same layouts, elsewhere on the cluster, would be reached sooner.
#ifndef TOOLS_CLI_PLAN_ALTERNATIVES_H_
#define TOOLS_CLI_PLAN_ALTERNATIVES_H_

#include <vector>

#include "tools/cli/plan_request.h"
#include "transition/preview/preview.h"
#include "transition/preview/warnings.h"

namespace dynatrain::cli {

// Worlds of more ranks are not tried: orders are chosen among all of them.
inline constexpr int kMostRanksToReorder = 512;

// "better-placement", with the option that gives it, if other nodes or another
// order of the ranks would take less than four fifths of the time. Nothing if
// the request says where ranks go.
std::vector<transition::Warning> BetterPlacements(
    const PlanRequest& request, const transition::Preview& preview,
    const transition::PreviewOptions& options);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PLAN_ALTERNATIVES_H_
