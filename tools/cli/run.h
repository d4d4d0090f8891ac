// The tool, without a process around it.
#ifndef TOOLS_CLI_RUN_H_
#define TOOLS_CLI_RUN_H_

#include <string>

#include "absl/types/span.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/streams.h"

namespace dynatrain::cli {

// `arguments` are those behind the program's name.
ExitCode Run(absl::Span<const std::string> arguments, const Streams& streams);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_RUN_H_
