// How kubectl completes its plugins: it runs kubectl_complete-NAME with the
// words so far and reads one candidate per line, then what else may be offered.
// Source: kubectl, pkg/cmd/plugin/plugin_completion.go; cobra's directives.
#ifndef TOOLS_CLI_KUBECTL_COMPLETION_H_
#define TOOLS_CLI_KUBECTL_COMPLETION_H_

#include <string>

#include "absl/types/span.h"

namespace dynatrain::cli {

// Candidates for the last of `words` (those behind the plugin's name), and
// ":0" if files may stand there too, else ":4".
std::string KubectlCompletion(absl::Span<const std::string> words);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_KUBECTL_COMPLETION_H_
