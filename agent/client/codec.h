// Wire form of messages.h: the generated classes of api/rpc/agent.proto. Only
// the client and the agent's server include this; it costs gRPC's headers.
#ifndef AGENT_CLIENT_CODEC_H_
#define AGENT_CLIENT_CODEC_H_

#include "absl/status/statusor.h"
#include "agent/client/messages.h"
#include "api/rpc/agent.pb.h"
#include "transition/commit/fence.h"

namespace dynatrain::agent {

// The metadata entry that carries the job's key.
inline constexpr char kKeyMetadata[] = "dynatrain-key";

rpc::Fence ToProto(const transition::Fence& fence);
rpc::Transition ToProto(const Transition& transition);
rpc::Observation ToProto(const Observation& observation);
rpc::StoreRequest ToProto(const StoreRequest& request);

transition::Fence FromProto(const rpc::Fence& fence);
Observation FromProto(const rpc::Observation& observation);
StoreRequest FromProto(const rpc::StoreRequest& request);
// Returns kInvalidArgument, naming the field, if a part is missing or the
// parts contradict each other (generations, a process in two places).
absl::StatusOr<Transition> FromProto(const rpc::Transition& transition);

}  // namespace dynatrain::agent

#endif  // AGENT_CLIENT_CODEC_H_
