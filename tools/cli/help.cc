#include "tools/cli/help.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace dynatrain::cli {
namespace {

using Row = std::pair<std::string, std::string>;  // what it is, lines of help

// Two columns, the right one indented as far as the widest on the left needs.
std::string Columns(const std::vector<Row>& rows) {
  size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.first.size());
  std::string text;
  for (const Row& row : rows) {
    std::string left = row.first;
    for (absl::string_view line : absl::StrSplit(row.second, '\n')) {
      left.resize(width, ' ');
      absl::StrAppend(&text, "  ", left, "  ", line, "\n");
      left.clear();
    }
  }
  return text;
}

std::string Indented(absl::string_view lines, absl::string_view program) {
  std::string text;
  for (absl::string_view line :
       absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, "  ", absl::StrReplaceAll(line, {{"$", program}}),
                    "\n");
  }
  return text;
}

Row RowOf(const Option& option) {
  return {absl::StrCat(
              option.letter.empty() ? "    "
                                    : absl::StrCat("-", option.letter, ", "),
              "--", option.name, option.takes_value() ? " " : "", option.value),
          option.help};
}

const char kExitCodes[] = R"(Exit codes:
  0  done
  1  `layout --diff` found a difference
  2  the command line is wrong
  3  a file can't be read or isn't what it should be
  4  the output can't be written
  5  `plan` refuses: its check found something, or memory is too small
)";

}  // namespace

std::string Help(absl::string_view program) {
  std::vector<Row> commands;
  std::string examples;
  for (const Command& command : Commands()) {
    commands.emplace_back(command.name, command.summary);
    // The first example of each.
    const std::string first =
        command.examples.substr(0, command.examples.find('\n'));
    absl::StrAppend(&examples, Indented(first, program));
  }
  return absl::StrCat(
      "Look into the layouts of training jobs, which rank holds which part of "
      "which\ntensor, and into transitions from one to another before "
      "anything moves.\n\nUsage: ",
      program, " COMMAND [OPTIONS] [ARGUMENTS]\n\nCommands:\n",
      Columns(commands), "\nOptions:\n",
      Columns({{"-h, --help", "this text; after a command, about it"},
               {"    --version", "the version of this tool"}}),
      "\nExamples:\n", examples, "\n", kExitCodes);
}

std::string Help(absl::string_view program, const Command& command) {
  std::string usage = absl::StrCat(program, " ", command.name, " [OPTIONS]");
  std::vector<Row> arguments;
  for (const Argument& argument : command.arguments) {
    absl::StrAppend(&usage, " ", argument.name);
    arguments.emplace_back(argument.name, argument.help);
  }
  std::vector<Row> options;
  for (const Option& option : command.options) {
    options.push_back(RowOf(option));
  }
  options.emplace_back("-h, --help", "this text");
  std::string text = absl::StrCat(program, " ", command.name, ": ",
                                  command.summary, "\n\nUsage: ", usage, "\n");
  if (!command.text.empty()) absl::StrAppend(&text, "\n", command.text, "\n");
  if (!arguments.empty()) {
    absl::StrAppend(&text, "\nArguments:\n", Columns(arguments));
  }
  absl::StrAppend(&text, "\nOptions:\n", Columns(options), "\nExamples:\n",
                  Indented(command.examples, program), "\n", kExitCodes);
  return text;
}

}  // namespace dynatrain::cli
