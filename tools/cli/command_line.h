// The command line as values. What is wrong is said with what was probably
// meant; what is right for a value is the command's own business.
#ifndef TOOLS_CLI_COMMAND_LINE_H_
#define TOOLS_CLI_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/cli/commands.h"

namespace dynatrain::cli {

struct CommandLine {
  const Command* command = nullptr;  // null: none was given
  bool help = false;
  bool version = false;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> options;  // those given, by name

  bool Has(const std::string& option) const {
    return options.count(option) > 0;
  }
  std::string Get(const std::string& option,
                  absl::string_view otherwise = "") const {
    const auto it = options.find(option);
    return it == options.end() ? std::string(otherwise) : it->second;
  }
};

// `arguments` without the program's name. Options and arguments may come in any
// order, as --name value, --name=value, -n value or -nvalue; after -- all are
// arguments. Returns kInvalidArgument if a command or option isn't known, a
// value is missing or not among the option's choices, an option comes twice, or
// there are too few or too many arguments; never if help is asked for.
absl::StatusOr<CommandLine> ParseCommandLine(
    absl::Span<const std::string> arguments);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_COMMAND_LINE_H_
