// The JSON of `dynatrain plan -o json`. docs/plan.md says what its fields are;
// they are added to, never renamed.
#ifndef TOOLS_CLI_PLAN_JSON_H_
#define TOOLS_CLI_PLAN_JSON_H_

#include <string>

#include "tools/cli/plan_result.h"

namespace dynatrain::cli {

// One object and a newline, two blanks per level.
std::string PlanJson(const PlanResult& result);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PLAN_JSON_H_
