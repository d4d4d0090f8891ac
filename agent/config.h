// What the operator tells an agent through the environment of its container.
#ifndef AGENT_CONFIG_H_
#define AGENT_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::agent {

struct AgentConfig {
  // A variable's value, or none if it isn't set.
  using Environment =
      std::function<std::optional<std::string>(absl::string_view name)>;

  std::string job;
  std::string job_namespace;
  std::string job_uid;
  uint32_t serial = 0;
  int ranks_per_replica = 1;
  std::string pod_ip;
  std::string key;                  // hex, of the job
  int port = 7070;                  // 0: any free one, for tests
  std::chrono::seconds grace{120};  // from SIGTERM to SIGKILL
  std::string socket;               // path of the socket of the ranks
  std::string home;                 // folder with lib/ and python/
  std::string restart_text;  // why the job was restarted, for the program

  // Reads DYNATRAIN_JOB, NAMESPACE, JOB_UID, SERIAL, RANKS_PER_REPLICA, POD_IP
  // and KEY (with that prefix), and if set AGENT_PORT, GRACE_SECONDS, SOCKET
  // and RESTART_TEXT. `home` is the folder of the agent's own binary. Returns
  // kInvalidArgument, naming the variable, its value and what would be right.
  static absl::StatusOr<AgentConfig> Create(const Environment& environment,
                                            const std::string& home);
};

// The environment of local rank `local_rank`: `own` ("NAME=value", the agent's)
// with the variables of docs/design/0001 set.
std::vector<std::string> RankEnvironment(const AgentConfig& config,
                                         int local_rank,
                                         const std::vector<std::string>& own);

}  // namespace dynatrain::agent

#endif  // AGENT_CONFIG_H_
