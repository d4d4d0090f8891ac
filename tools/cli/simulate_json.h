// What `dynatrain simulate -o json` prints: all of it, with units in the names
// (docs/simulate.md).
#ifndef TOOLS_CLI_SIMULATE_JSON_H_
#define TOOLS_CLI_SIMULATE_JSON_H_

#include <string>
#include <vector>

#include "tools/cli/simulate_request.h"

namespace dynatrain::cli {

std::string TraceJson(const TraceRequest& request,
                      const std::vector<simulate::RunResult>& results);

std::string CasesJson(const CaseRequest& request,
                      const std::vector<CaseResult>& results);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_SIMULATE_JSON_H_
