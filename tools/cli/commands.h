// The commands of the tool and their options, as data: what is parsed, shown by
// --help, completed by shells and suggested for a word that isn't known.
#ifndef TOOLS_CLI_COMMANDS_H_
#define TOOLS_CLI_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dynatrain::cli {

// What a shell offers where a value is expected.
enum class Completes {
  kNothing,
  kFiles,
  kChoices,         // of `choices`, and nothing else is valid
  kFilesOrChoices,  // names that are known, or a path
};

struct Option {
  std::string name;    // "output", written --output
  std::string letter;  // "o", written -o; "" if it has none
  std::string value;   // "FORMAT", as help calls it; "" if it takes none
  std::string help;    // lines of it
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices;

  bool takes_value() const { return !value.empty(); }
};

// What follows a command without a dash, and must.
struct Argument {
  std::string name;  // "FILE"
  std::string help;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices;
};

struct Command {
  std::string name;
  std::string summary;  // one line
  std::string text;     // paragraphs below it
  std::vector<Argument> arguments;
  std::vector<Option> options;
  std::string examples;  // lines; "$" stands for the program's name
};

// All of them, in the order of help.
absl::Span<const Command> Commands();

// nullptr if there is no such command.
const Command* FindCommand(absl::string_view name);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_COMMANDS_H_
