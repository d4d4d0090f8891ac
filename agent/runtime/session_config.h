// How a rank process finds its agent, and what it may use.
#ifndef AGENT_RUNTIME_SESSION_CONFIG_H_
#define AGENT_RUNTIME_SESSION_CONFIG_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transition/transport/transport.h"

namespace dynatrain::runtime {

struct SessionConfig {
  std::string socket;  // of the agent
  int local_rank = 0;
  std::string pod_ip;
  std::string key;  // of the job, raw bytes
  transition::StagingBudget staging;

  // The value of an environment variable, if it is set.
  using Environment =
      std::function<std::optional<std::string>(const std::string& name)>;

  // `json`: {"socket","local_rank","pod_ip","key" (hex),"staging_bytes"}; what
  // it leaves out comes from DYNATRAIN_SOCKET, _LOCAL_RANK, _POD_IP and _KEY.
  // Returns kInvalidArgument naming the entry or variable.
  static absl::StatusOr<SessionConfig> Create(absl::string_view json,
                                              const Environment& environment);
};

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_SESSION_CONFIG_H_
