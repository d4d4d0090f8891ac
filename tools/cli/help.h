// The texts of --help.
#ifndef TOOLS_CLI_HELP_H_
#define TOOLS_CLI_HELP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/cli/commands.h"

namespace dynatrain::cli {

// `program` is how the tool was called: "dynatrain", or "kubectl dynatrain".
std::string Help(absl::string_view program);
std::string Help(absl::string_view program, const Command& command);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_HELP_H_
