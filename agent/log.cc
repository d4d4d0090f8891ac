#include "agent/log.h"

#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "agent/write_all.h"

namespace dynatrain::agent {

void Log(LogLevel level, absl::string_view message) {
  const char* name = level == LogLevel::kInfo      ? "INFO "
                     : level == LogLevel::kWarning ? "WARNING "
                                                   : "ERROR ";
  // A message may quote what a rank or a peer wrote.
  WriteAll(STDERR_FILENO,
           absl::StrCat("[agent] ", name,
                        absl::StrReplaceAll(message, {{"\n", "\\n"}}), "\n"));
}

}  // namespace dynatrain::agent
