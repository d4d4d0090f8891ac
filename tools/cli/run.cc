#include "tools/cli/run.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/layout_file/layout_file.h"
#include "base/status_macros.h"
#include "tools/cli/command_line.h"
#include "tools/cli/completion.h"
#include "tools/cli/explain.h"
#include "tools/cli/help.h"
#include "tools/cli/layout_command.h"
#include "tools/cli/load.h"
#include "tools/cli/plan_command.h"
#include "tools/cli/selection.h"
#include "tools/cli/simulate_command.h"

namespace dynatrain::cli {
namespace {

constexpr char kVersion[] = "0.1.0";

absl::StatusOr<std::string> ExplainText(const api::LoadedLayout& loaded,
                                        const CommandLine& line) {
  if (!line.Has("element")) {
    return absl::InvalidArgumentError(
        "--element is missing: which element, as in --element 'weight[17,5]'");
  }
  ASSIGN_OR_RETURN(const ElementName element,
                   ParseElement(line.Get("element")));
  ASSIGN_OR_RETURN(const int tensor, FindTensor(loaded.layout, element.tensor,
                                                line.Get("state", "param")));
  return Explain(loaded, tensor, element.index);
}

ExitCode RunExplain(const CommandLine& line, const Streams& streams) {
  const absl::StatusOr<api::LoadedLayout> loaded =
      Load(line.arguments[0], streams.in);
  if (!loaded.ok()) return streams.Fail(kBadInput, loaded.status());
  const absl::StatusOr<std::string> text = ExplainText(*loaded, line);
  if (!text.ok()) return streams.Fail(kBadUsage, text.status());
  streams.out << *text;
  return kDone;
}

// The command that the words begin with, for "Try ... --help".
std::string HelpCommand(absl::Span<const std::string> arguments,
                        const std::string& program) {
  const Command* command =
      arguments.empty() ? nullptr : FindCommand(arguments[0]);
  return absl::StrCat(program, command == nullptr ? "" : " ",
                      command == nullptr ? "" : command->name, " --help");
}

}  // namespace

ExitCode Run(absl::Span<const std::string> arguments, const Streams& streams) {
  const absl::StatusOr<CommandLine> line = ParseCommandLine(arguments);
  if (!line.ok()) {
    streams.Fail(kBadUsage, line.status());
    streams.err << "Try '" << HelpCommand(arguments, streams.program) << "'.\n";
    return kBadUsage;
  }
  if (line->help) {
    streams.out << (line->command == nullptr
                        ? Help(streams.program)
                        : Help(streams.program, *line->command));
    return kDone;
  }
  if (line->version) {
    streams.out << "dynatrain " << kVersion << "\n";
    return kDone;
  }
  if (line->command->name == "layout") return RunLayout(*line, streams);
  if (line->command->name == "explain") return RunExplain(*line, streams);
  if (line->command->name == "plan") return RunPlan(*line, streams);
  if (line->command->name == "simulate") return RunSimulate(*line, streams);
  streams.out << CompletionScript(line->arguments[0]);
  return kDone;
}

}  // namespace dynatrain::cli
