#include "tools/cli/completion.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/cli/commands.h"

namespace dynatrain::cli {
namespace {

std::string CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.push_back(command.name);
  return absl::StrJoin(names, " ");
}

// "-o|--output".
std::string Pattern(const Option& option) {
  return option.letter.empty()
             ? absl::StrCat("--", option.name)
             : absl::StrCat("-", option.letter, "|--", option.name);
}

std::string Dashed(const Command& command) {
  std::vector<std::string> words;
  for (const Option& option : command.options) {
    words.push_back(absl::StrCat("--", option.name));
  }
  words.push_back("--help");
  return absl::StrJoin(words, " ");
}

// The bash line that offers what `completes` says.
std::string BashOffer(Completes completes,
                      const std::vector<std::string>& choices) {
  switch (completes) {
    case Completes::kFiles:
    case Completes::kFilesOrChoices: {
      // Names may have blanks; and only names get a slash if they are folders.
      const std::string words =
          choices.empty()
              ? ""
              : absl::StrCat("-W \"", absl::StrJoin(choices, " "), "\" ");
      return absl::StrCat(
          "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f ", words,
          "-- \"$word\")");
    }
    case Completes::kChoices:
      return absl::StrCat("COMPREPLY=($(compgen -W \"",
                          absl::StrJoin(choices, " "), "\" -- \"$word\"))");
    case Completes::kNothing:
      break;
  }
  return "COMPREPLY=()";
}

std::string BashCommand(const Command& command) {
  std::string text = absl::StrCat("    ", command.name, ")\n");
  std::string cases;
  for (const Option& option : command.options) {
    if (!option.takes_value()) continue;
    absl::StrAppend(&cases, "        ", Pattern(option), ") ",
                    BashOffer(option.completes, option.choices),
                    "; return ;;\n");
  }
  if (!cases.empty()) {
    absl::StrAppend(&text, "      case \"$before\" in\n", cases,
                    "      esac\n");
  }
  absl::StrAppend(&text,
                  "      if [[ $word == -* ]]; then COMPREPLY=($(compgen "
                  "-W \"",
                  Dashed(command), "\" -- \"$word\"))\n");
  for (const Argument& argument : command.arguments) {
    absl::StrAppend(&text, "      else ",
                    BashOffer(argument.completes, argument.choices), "\n");
  }
  absl::StrAppend(&text, "      fi ;;\n");
  return text;
}

std::string Bash() {
  std::string text = absl::StrCat(
      "# bash completion of dynatrain; made by `dynatrain completion bash`\n"
      "_dynatrain() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]}\n"
      "  local before=${COMP_WORDS[COMP_CWORD-1]}\n"
      // In --option=value, "=" is a word of its own.
      "  [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  [ \"$word\" != = ] || word=\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"",
      CommandNames(),
      " --help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n");
  for (const Command& command : Commands()) {
    absl::StrAppend(&text, BashCommand(command));
  }
  absl::StrAppend(&text,
                  "  esac\n}\n"
                  "complete -F _dynatrain dynatrain\n");
  return text;
}

// In zsh's _arguments, brackets, colons and quotes have meanings.
std::string ZshText(absl::string_view help) {
  return absl::StrReplaceAll(
      help,
      {{"\n", " "}, {"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

std::string ZshAction(Completes completes,
                      const std::vector<std::string>& choices) {
  switch (completes) {
    case Completes::kFiles:
      return "_files";
    case Completes::kFilesOrChoices:
      return absl::StrCat("{compadd ", absl::StrJoin(choices, " "),
                          "; _files}");
    case Completes::kChoices:
      return absl::StrCat("(", absl::StrJoin(choices, " "), ")");
    case Completes::kNothing:
      break;
  }
  return "";
}

std::string ZshOption(const Option& option) {
  const std::string name = absl::StrCat("--", option.name);
  const std::string help = absl::StrCat("[", ZshText(option.help), "]");
  if (!option.takes_value()) return absl::StrCat("'", name, help, "'");
  const std::string value = absl::StrCat(
      help, ":value:", ZshAction(option.completes, option.choices), "'");
  if (option.letter.empty()) return absl::StrCat("'", name, "=", value);
  const std::string letter = absl::StrCat("-", option.letter);
  return absl::StrCat("'(", letter, " ", name, ")'{", letter, "+,", name, "=}'",
                      value);
}

std::string ZshCommand(const Command& command) {
  std::string text = absl::StrCat("        ", command.name, ")\n",
                                  "          _arguments -s \\\n");
  for (const Option& option : command.options) {
    absl::StrAppend(&text, "            ", ZshOption(option), " \\\n");
  }
  absl::StrAppend(&text, "            '(-h --help)'{-h,--help}'[help]'");
  int place = 1;
  for (const Argument& argument : command.arguments) {
    absl::StrAppend(&text, " \\\n            '", place++, ":", argument.name,
                    ":", ZshAction(argument.completes, argument.choices), "'");
  }
  absl::StrAppend(&text, " ;;\n");
  return text;
}

std::string Zsh() {
  std::string text =
      "#compdef dynatrain\n"
      "# zsh completion of dynatrain; made by `dynatrain completion zsh`\n"
      "_dynatrain() {\n"
      "  local state\n"
      "  _arguments -C '(-h --help)'{-h,--help}'[help]' \\\n"
      "    '--version[the version of this tool]' \\\n"
      "    '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=(\n";
  for (const Command& command : Commands()) {
    absl::StrAppend(&text, "        '", command.name, ":",
                    ZshText(command.summary), "'\n");
  }
  absl::StrAppend(&text,
                  "      )\n"
                  "      _describe command commands ;;\n"
                  "    argument)\n"
                  "      case $words[1] in\n");
  for (const Command& command : Commands()) {
    absl::StrAppend(&text, ZshCommand(command));
  }
  absl::StrAppend(&text,
                  "      esac ;;\n"
                  "  esac\n"
                  "}\n"
                  // Loaded from a folder of completions, the file is the
                  // function itself.
                  "if [ \"$funcstack[1]\" = _dynatrain ]; then\n"
                  "  _dynatrain \"$@\"\n"
                  "else\n"
                  "  compdef _dynatrain dynatrain\n"
                  "fi\n");
  return text;
}

std::string FishQuoted(absl::string_view text) {
  return absl::StrCat(
      "'",
      absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}, {"\n", " "}}),
      "'");
}

std::string FishCommand(const Command& command) {
  const std::string when =
      absl::StrCat("complete -c dynatrain -n '__fish_seen_subcommand_from ",
                   command.name, "'");
  std::string text;
  for (const Option& option : command.options) {
    const bool files = option.completes == Completes::kFiles ||
                       option.completes == Completes::kFilesOrChoices;
    absl::StrAppend(&text, when, option.letter.empty() ? "" : " -s ",
                    option.letter, " -l ", option.name, " -d ",
                    FishQuoted(option.help),
                    !option.takes_value() ? ""
                    : files               ? " -r -F"
                                          : " -x");
    if (!option.choices.empty()) {
      absl::StrAppend(&text, " -a '", absl::StrJoin(option.choices, " "), "'");
    }
    absl::StrAppend(&text, "\n");
  }
  for (const Argument& argument : command.arguments) {
    absl::StrAppend(&text, when);
    if (argument.completes == Completes::kFiles) absl::StrAppend(&text, " -F");
    if (!argument.choices.empty()) {
      absl::StrAppend(&text, " -f -a '", absl::StrJoin(argument.choices, " "),
                      "'");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string Fish() {
  std::string text =
      "# fish completion of dynatrain; made by `dynatrain completion fish`\n"
      "complete -c dynatrain -f\n"
      "complete -c dynatrain -s h -l help -d 'help'\n"
      "complete -c dynatrain -n __fish_use_subcommand -l version -d 'the "
      "version of this tool'\n";
  for (const Command& command : Commands()) {
    absl::StrAppend(&text, "complete -c dynatrain -n __fish_use_subcommand -a ",
                    command.name, " -d ", FishQuoted(command.summary), "\n");
  }
  for (const Command& command : Commands()) {
    absl::StrAppend(&text, FishCommand(command));
  }
  return text;
}

}  // namespace

std::string CompletionScript(absl::string_view shell) {
  if (shell == "zsh") return Zsh();
  if (shell == "fish") return Fish();
  return Bash();
}

}  // namespace dynatrain::cli
