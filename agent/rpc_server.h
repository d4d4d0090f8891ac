// The agent's gRPC side: api/rpc/agent.proto over AgentState and the store.
#ifndef AGENT_RPC_SERVER_H_
#define AGENT_RPC_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "agent/agent_state.h"
#include "agent/store_router.h"

namespace dynatrain::agent {

// True if `a` equals `b`, in a time that depends on their sizes only.
bool EqualInConstantTime(const std::string& a, const std::string& b);

class RpcServer {
 public:
  virtual ~RpcServer() = default;
  virtual int port() const = 0;
  // Takes no more calls; those that still wait after half a second are cut off.
  virtual void Stop() = 0;

  // Serves on all addresses at `port` (0: any free one), to callers that show
  // `key`. `state` and `router` outlive it.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      int port, const std::string& key, AgentState* state, StoreRouter* router);
};

}  // namespace dynatrain::agent

#endif  // AGENT_RPC_SERVER_H_
