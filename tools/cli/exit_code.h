// What the tool's exit codes mean; `dynatrain --help` says the same.
#ifndef TOOLS_CLI_EXIT_CODE_H_
#define TOOLS_CLI_EXIT_CODE_H_

namespace dynatrain::cli {

enum ExitCode {
  kDone = 0,       // also if whoever reads the output has had enough
  kDiffers = 1,    // `layout --diff` found a difference
  kBadUsage = 2,   // the command line is wrong, or not for this file
  kBadInput = 3,   // a file can't be read or isn't what it should be
  kBadOutput = 4,  // the output can't be written
  kRefused = 5,    // `plan`: the check found something, or memory is too small
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_EXIT_CODE_H_
