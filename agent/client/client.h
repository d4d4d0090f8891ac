// The agent of a pod, over gRPC.
#ifndef AGENT_CLIENT_CLIENT_H_
#define AGENT_CLIENT_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "agent/client/agent_api.h"

namespace dynatrain::agent {

// Returns a client of the agent at `address` ("10.0.0.7:7070",
// "[fd00::7]:7070") of the job whose key is `key` (hex). Connects lazily and
// again after a loss. Returns kInvalidArgument if the address isn't an IP
// address with a port.
absl::StatusOr<std::unique_ptr<AgentApi>> NewAgentClient(
    const std::string& address, const std::string& key);

}  // namespace dynatrain::agent

#endif  // AGENT_CLIENT_CLIENT_H_
