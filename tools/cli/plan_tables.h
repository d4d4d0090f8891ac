// The text of `dynatrain plan` for people.
#ifndef TOOLS_CLI_PLAN_TABLES_H_
#define TOOLS_CLI_PLAN_TABLES_H_

#include <string>

#include "tools/cli/plan_result.h"

namespace dynatrain::cli {

// What goes where, over which links, in which schedule, and how long training
// would stand still, with the arithmetic; warnings and what was proved.
std::string PlanText(const PlanResult& result);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PLAN_TABLES_H_
