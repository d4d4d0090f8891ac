// Frames of api/rank as the agent writes and reads them.
#ifndef AGENT_RANK_FRAMES_H_
#define AGENT_RANK_FRAMES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/client/messages.h"
#include "agent/config.h"
#include "agent/container_memory.h"
#include "api/rank/frame.h"
#include "transition/commit/participant.h"

namespace dynatrain::agent {

api::Frame WelcomeFrame(const AgentConfig& config, int local_rank);
api::Frame PrepareFrame(const Transition& transition,
                        const ContainerMemory& memory);
// arm, go, cancel, abort, commit. REQUIRES: the order isn't kPrepare.
api::Frame OrderFrame(const transition::RankOrder& order);
api::Frame DismissFrame(const std::string& reason);
api::Frame StoreReplyFrame(uint64_t id, const StoreReply& reply);

// What these return for a frame that lacks a field or has one of another type:
// kInvalidArgument, naming kind and field.

// All texts of a frame must be UTF-8.
absl::Status CheckTexts(const api::Frame& frame);

struct Hello {
  int local_rank = 0;
  uint64_t process_id = 0;
  std::string data_address;
};
absl::StatusOr<Hello> ReadHello(const api::Frame& frame, int ranks);

// Fills in what a `step` says.
absl::Status ReadStep(const api::Frame& frame, RankObservation& rank);
// ... what `planned`, `prepared`, `verified` and `resumed` say.
absl::Status ReadPlanned(const api::Frame& frame, RankTransition& rank);
absl::Status ReadPrepared(const api::Frame& frame, RankTransition& rank,
                          std::string& manifest);
absl::Status ReadVerified(const api::Frame& frame, RankTransition& rank);
absl::Status ReadResumed(const api::Frame& frame, RankTransition& rank);

struct StoreCall {
  uint64_t id = 0;
  StoreRequest request;
};
absl::StatusOr<StoreCall> ReadStore(const api::Frame& frame);

}  // namespace dynatrain::agent

#endif  // AGENT_RANK_FRAMES_H_
