// Gives each line of a rank's output the rank's prefix, so that the lines of
// several ranks stay apart in one log.
#ifndef AGENT_LINE_PREFIXER_H_
#define AGENT_LINE_PREFIXER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::agent {

// Law: without the prefixes and the newlines that cut overlong lines or end the
// last one, the output is the input.
class LinePrefixer {
 public:
  // A line longer than this is cut, so that a rank that never ends its line
  // can't fill the agent's memory.
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;

  explicit LinePrefixer(absl::string_view prefix) : prefix_(prefix) {}

  // Takes more input; returns the lines that it completes, each "prefix
  // line\n".
  std::string Feed(absl::string_view bytes);
  // The input is over: returns the last line if it is incomplete.
  std::string Finish();

 private:
  const std::string prefix_;
  std::string line_;  // incomplete
};

}  // namespace dynatrain::agent

#endif  // AGENT_LINE_PREFIXER_H_
