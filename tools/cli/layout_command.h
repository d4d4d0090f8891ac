// `dynatrain layout`.
#ifndef TOOLS_CLI_LAYOUT_COMMAND_H_
#define TOOLS_CLI_LAYOUT_COMMAND_H_

#include "tools/cli/command_line.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/streams.h"

namespace dynatrain::cli {

// Ranks of a world that are all listed or drawn without being asked for.
inline constexpr int kMostRanks = 1024;
// Ranks that are all shown in a table without being asked for.
inline constexpr int kMostTableRanks = 64;

ExitCode RunLayout(const CommandLine& line, const Streams& streams);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_LAYOUT_COMMAND_H_
