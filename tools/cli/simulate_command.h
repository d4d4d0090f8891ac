// `dynatrain simulate`.
#ifndef TOOLS_CLI_SIMULATE_COMMAND_H_
#define TOOLS_CLI_SIMULATE_COMMAND_H_

#include "tools/cli/command_line.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/streams.h"

namespace dynatrain::cli {

ExitCode RunSimulate(const CommandLine& line, const Streams& streams);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_SIMULATE_COMMAND_H_
