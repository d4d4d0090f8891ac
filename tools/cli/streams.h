// What a command reads from and writes to.
#ifndef TOOLS_CLI_STREAMS_H_
#define TOOLS_CLI_STREAMS_H_

#include <istream>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/exit_code.h"

namespace dynatrain::cli {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  std::string program;  // as the user called it
  // Whether a person sees `err` at once, so that it may show progress.
  bool err_is_terminal = false;

  // Says what is wrong, on one line.
  ExitCode Fail(ExitCode code, const absl::Status& status) const {
    err << program << ": " << status.message() << "\n";
    return code;
  }
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_STREAMS_H_
