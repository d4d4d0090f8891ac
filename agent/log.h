// The agent's own log: one line per event on standard error, "key=value" pairs,
// beside the ranks' prefixed lines.
#ifndef AGENT_LOG_H_
#define AGENT_LOG_H_

#include "absl/strings/string_view.h"

namespace dynatrain::agent {

// kInfo is a change of phase, kWarning was recovered, kError was given up.
enum class LogLevel { kInfo, kWarning, kError };

// Writes "[agent] INFO <message>". Thread-safe; lines never mix.
void Log(LogLevel level, absl::string_view message);

}  // namespace dynatrain::agent

#endif  // AGENT_LOG_H_
