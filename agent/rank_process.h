// Starting one rank process.
#ifndef AGENT_RANK_PROCESS_H_
#define AGENT_RANK_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace dynatrain::agent {

struct RankProcess {
  pid_t pid = 0;    // also its process group
  UniqueFd output;  // the reading ends of its standard output and error
  UniqueFd error;
};

// Starts `command`, found along PATH, in a process group of its own, with all
// signals at their defaults and nothing open but its standard streams. Returns
// kNotFound or another error that names the command if it can't be started.
// REQUIRES: command isn't empty.
absl::StatusOr<RankProcess> StartRank(
    const std::vector<std::string>& command,
    const std::vector<std::string>& environment);

}  // namespace dynatrain::agent

#endif  // AGENT_RANK_PROCESS_H_
