// What `dynatrain simulate` prints for people.
#ifndef TOOLS_CLI_SIMULATE_TABLES_H_
#define TOOLS_CLI_SIMULATE_TABLES_H_

#include <string>
#include <vector>

#include "tools/cli/simulate_request.h"

namespace dynatrain::cli {

std::string TraceText(const TraceRequest& request,
                      const std::vector<simulate::RunResult>& results);

std::string CasesText(const CaseRequest& request,
                      const std::vector<CaseResult>& results);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_SIMULATE_TABLES_H_
