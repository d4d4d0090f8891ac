#include "tools/cli/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest.h"
#include "base/status_macros.h"

namespace dynatrain::cli {
namespace {

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

// What CLI11 fills in; its callbacks refer to it.
struct Parsed {
  CommandLine line;
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> flags;
};

// No option is "required" for CLI11: then it would refuse --help alone.
void AddCommand(CLI::App& app, const Command& command, Parsed& parsed) {
  CLI::App* sub = app.add_subcommand(command.name);
  sub->set_help_flag();
  sub->allow_extras();
  sub->add_flag("-h,--help", parsed.line.help);
  for (const Option& option : command.options) {
    const std::string names =
        absl::StrCat(option.letter.empty() ? "" : "-", option.letter,
                     option.letter.empty() ? "--" : ",--", option.name);
    if (!option.takes_value()) {
      sub->add_flag(names, parsed.flags[option.name]);
      continue;
    }
    sub->add_option(names, parsed.values[option.name])
        ->type_size(1)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.push_back(command.name);
  return names;
}

absl::Status UnknownOption(const std::string& word, const Command* command) {
  std::vector<std::string> names = {"--help"};
  if (command == nullptr) names.push_back("--version");
  if (command != nullptr) {
    for (const Option& option : command->options) {
      names.push_back(absl::StrCat("--", option.name));
    }
  }
  const std::string name = word.substr(0, word.find('='));
  const std::string near = DidYouMean(name, names);
  return Wrong(absl::StrCat(
      "no option ", name,
      near.empty() ? absl::StrCat("; there are ", absl::StrJoin(names, ", "))
                   : near));
}

absl::Status UnknownCommand(const std::string& word) {
  const std::vector<std::string> names = CommandNames();
  const std::string near = DidYouMean(word, names);
  return Wrong(absl::StrCat(
      "no command ", word,
      near.empty() ? absl::StrCat("; there are ", absl::StrJoin(names, ", "))
                   : near));
}

absl::Status CheckChoice(absl::string_view what, const std::string& value,
                         Completes completes,
                         const std::vector<std::string>& choices) {
  if (completes != Completes::kChoices) return absl::OkStatus();
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return absl::OkStatus();
  }
  return Wrong(absl::StrCat(what, ": \"", value, "\" is not one of ",
                            absl::StrJoin(choices, ", "),
                            DidYouMean(value, choices)));
}

absl::Status CheckArguments(const CommandLine& line) {
  const std::vector<Argument>& expected = line.command->arguments;
  for (size_t i = 0; i < line.arguments.size(); ++i) {
    if (i >= expected.size()) {
      return Wrong(absl::StrCat("one argument too many: ", line.arguments[i]));
    }
    RETURN_IF_ERROR(CheckChoice(expected[i].name, line.arguments[i],
                                expected[i].completes, expected[i].choices));
  }
  if (line.arguments.size() < expected.size()) {
    return Wrong(
        absl::StrCat(expected[line.arguments.size()].name, " is missing"));
  }
  return absl::OkStatus();
}

// Options into `line`, which CLI11 left as lists.
absl::Status TakeOptions(Parsed& parsed) {
  for (const Option& option : parsed.line.command->options) {
    if (parsed.flags[option.name]) parsed.line.options[option.name] = "";
    std::vector<std::string>& values = parsed.values[option.name];
    if (values.empty()) continue;
    if (values.size() > 1) {
      return Wrong(absl::StrCat("--", option.name, " is given twice: ",
                                values[0], " and ", values[1]));
    }
    RETURN_IF_ERROR(CheckChoice(absl::StrCat("--", option.name), values[0],
                                option.completes, option.choices));
    parsed.line.options[option.name] = std::move(values[0]);
  }
  return absl::OkStatus();
}

// What CLI11 didn't know: arguments, and options that don't exist. Behind "--",
// which CLI11 drops, everything is an argument.
absl::Status TakeRest(const std::vector<std::string>& rest, int behind_dashes,
                      CommandLine& line) {
  const int known = static_cast<int>(rest.size()) - behind_dashes;
  for (int i = 0; i < rest.size(); ++i) {
    const bool dashed = rest[i].size() > 1 && rest[i][0] == '-';
    if (i < known && dashed) return UnknownOption(rest[i], line.command);
    line.arguments.push_back(rest[i]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(
    absl::Span<const std::string> arguments) {
  Parsed parsed;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  // A second command's name is an argument: a file may be called so.
  app.require_subcommand(0, 1);
  app.add_flag("-h,--help", parsed.line.help);
  app.add_flag("--version", parsed.line.version);
  for (const Command& command : Commands()) AddCommand(app, command, parsed);

  // Split off by hand, because CLI11 doesn't say what stood behind it.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  // CLI11 wants them last first.
  std::vector<std::string> words(arguments.begin(), dashes);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ArgumentMismatch& error) {
    // "--rank: 1 required TEXT missing".
    const absl::string_view what = error.what();
    return Wrong(
        absl::StrCat(what.substr(0, what.find(':')), " needs a value"));
  } catch (const CLI::Error& error) {
    return Wrong(error.what());
  }
  std::vector<std::string> rest = app.remaining();
  for (const CLI::App* sub : app.get_subcommands()) {
    parsed.line.command = FindCommand(sub->get_name());
    const std::vector<std::string> more = sub->remaining();
    rest.insert(rest.end(), more.begin(), more.end());
  }
  if (parsed.line.help) return std::move(parsed.line);
  if (parsed.line.command == nullptr && parsed.line.version) {
    return std::move(parsed.line);
  }
  if (parsed.line.command == nullptr) {
    for (const std::string& word : rest) {
      return word[0] == '-' ? UnknownOption(word, nullptr)
                            : UnknownCommand(word);
    }
    return Wrong(absl::StrCat("no command; there are ",
                              absl::StrJoin(CommandNames(), ", ")));
  }
  int behind = 0;
  if (dashes != arguments.end()) {
    behind = static_cast<int>(arguments.end() - dashes) - 1;
    rest.insert(rest.end(), dashes + 1, arguments.end());
  }
  RETURN_IF_ERROR(TakeRest(rest, behind, parsed.line));
  RETURN_IF_ERROR(TakeOptions(parsed));
  RETURN_IF_ERROR(CheckArguments(parsed.line));
  return std::move(parsed.line);
}

}  // namespace dynatrain::cli
