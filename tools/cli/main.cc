// dynatrain: looks into layouts and transitions. Called kubectl-dynatrain it is
// a plugin of kubectl and calls itself by kubectl's name for it.

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/fd_buffer.h"
#include "tools/cli/kubectl_completion.h"
#include "tools/cli/run.h"
#include "tools/cli/streams.h"

int main(int argc, char** argv) {
  using dynatrain::cli::FdBuffer;
  // A closed pipe is an error of write(), not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  const absl::string_view path = argc > 0 ? argv[0] : "dynatrain";
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0),
                                           argv + argc);
  FdBuffer buffer(STDOUT_FILENO);
  std::ostream out(&buffer);
  const dynatrain::cli::Streams streams = {
      std::cin, out, std::cerr,
      name == "kubectl-dynatrain" ? "kubectl dynatrain" : "dynatrain",
      isatty(STDERR_FILENO) == 1};
  dynatrain::cli::ExitCode code = dynatrain::cli::kDone;
  if (name == "kubectl_complete-dynatrain") {
    out << dynatrain::cli::KubectlCompletion(arguments);
  } else {
    code = Run(arguments, streams);
  }
  out.flush();
  if (buffer.error() == 0 || buffer.error() == EPIPE) return code;
  std::cerr << streams.program << ": the output can't be written: "
            << std::strerror(buffer.error()) << "\n";
  return dynatrain::cli::kBadOutput;
}
