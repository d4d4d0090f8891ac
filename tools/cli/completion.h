// Scripts that let a shell complete the tool's command line.
#ifndef TOOLS_CLI_COMPLETION_H_
#define TOOLS_CLI_COMPLETION_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::cli {

// `shell` is one of the choices of `completion`. The script completes
// "dynatrain" whatever name the tool was called by; kubectl completes its
// plugins in its own way.
std::string CompletionScript(absl::string_view shell);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_COMPLETION_H_
