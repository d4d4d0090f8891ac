// Whole lines to the agent's standard output and error, which its own threads
// share.
#ifndef AGENT_WRITE_ALL_H_
#define AGENT_WRITE_ALL_H_

#include "absl/strings/string_view.h"

namespace dynatrain::agent {

// Writes all of `bytes` to `fd` in one piece with respect to other calls for
// it. What can't be written, because the reader is gone, is dropped.
void WriteAll(int fd, absl::string_view bytes);

}  // namespace dynatrain::agent

#endif  // AGENT_WRITE_ALL_H_
