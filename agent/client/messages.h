// What operator and agents say to each other, as plain values. The wire form
// and the meaning of each field are those of api/rpc/agent.proto.
#ifndef AGENT_CLIENT_MESSAGES_H_
#define AGENT_CLIENT_MESSAGES_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transition/commit/phase.h"

namespace dynatrain::agent {

struct RankEndpoint {
  uint64_t process_id = 0;
  std::string data_address;  // "ip:port"

  friend bool operator==(const RankEndpoint&, const RankEndpoint&) = default;
};

struct Member {
  uint32_t serial = 0;
  std::string agent_address;  // "ip:port"
  std::vector<RankEndpoint> ranks;
  uint32_t node = 0;  // equal in both worlds for members on one; 0: not known

  friend bool operator==(const Member&, const Member&) = default;
};

// The rank of a process is its position in the concatenation of members' ranks.
struct World {
  uint64_t generation = 0;
  std::string layout;  // "dp2,tp2,pp1"; empty for generation 0
  std::vector<Member> members;

  friend bool operator==(const World&, const World&) = default;
};

struct Transition {
  std::string id;
  uint64_t generation = 0;
  World source;
  World target;
  std::string manifest;  // JSON text; empty in the first start
  uint64_t seed = 0;
  std::chrono::milliseconds transfer_deadline{0};
  std::chrono::milliseconds prepare_deadline{0};

  friend bool operator==(const Transition&, const Transition&) = default;
};

struct ArmReply {
  bool refused = false;
  uint64_t seen = 0;   // highest step that a local rank has completed
  std::string reason;  // why it was refused
};

struct Manifest {
  uint64_t generation = 0;
  std::string json;
  std::string digest;
};

enum class RankState {
  kStarting = 0,
  kReady = 1,
  kTraining = 2,
  kStopped = 3,
  kFinished = 4,
  kExited = 5,
};

struct RankObservation {
  uint32_t local_rank = 0;
  uint64_t process_id = 0;  // 0 before hello
  int64_t os_pid = 0;
  std::string data_address;
  RankState state = RankState::kStarting;
  int exit_code = 0;  // if kExited; 128 + signal
  uint64_t generation = 0;
  uint64_t step = 0;
  std::optional<std::chrono::milliseconds> step_age;  // none before the first
  double loss = 0;
  uint64_t samples = 0;
  double step_ms = 0;
  std::string error;
  std::string text;  // its last line of metrics
};

struct RankTransition {
  uint32_t local_rank = 0;
  bool prepared = false;
  std::string manifest_digest;
  // What it agrees on (transition/plan/agreement.h); from `planned` on, as the
  // two sums.
  std::string plan_digest;
  uint64_t sent_hash = 0;
  uint64_t received_hash = 0;
  std::string mode;  // "warm", "cold"
  uint64_t new_bytes = 0;
  uint64_t staging_bytes = 0;
  uint64_t kept_bytes = 0;
  uint64_t moved_bytes = 0;    // planned, incoming
  uint64_t minimal_bytes = 0;  // lower bound of incoming
  bool stopped = false;
  uint64_t stopped_step = 0;
  bool verified = false;
  uint64_t bytes_sent = 0;  // counted by the transports
  uint64_t bytes_received = 0;
  bool resumed = false;
  bool left = false;
  double pause_ms = 0;
  std::map<std::string, double> times_ms;        // of the preparation
  std::map<std::string, double> pause_parts_ms;  // from stop to resume
  std::string failure;                           // stage and reason
};

struct TransitionObservation {
  std::string id;
  uint64_t generation = 0;
  transition::Phase phase = transition::Phase::kNone;
  uint64_t armed_step = 0;
  std::string failure;
  std::vector<RankTransition> ranks;
};

struct Observation {
  uint64_t version = 0;
  uint64_t term = 0;  // highest seen
  std::string job_uid;
  uint32_t serial = 0;
  std::string agent_version;
  uint64_t committed_generation = 0;  // 0 before the first
  std::string manifest_digest;
  bool leaving = false;  // SIGTERM was received
  // Time left until the ranks are told; none if not leaving.
  std::optional<std::chrono::milliseconds> leave_deadline;
  uint64_t memory_limit_bytes = 0;  // of the container; 0 if none
  uint64_t memory_used_bytes = 0;
  std::vector<RankObservation> ranks;
  TransitionObservation transition;
};

// One call of the rendezvous store of a generation.
struct StoreRequest {
  uint64_t generation = 0;
  std::string op;  // set get add wait check compare_set delete num_keys
  std::vector<std::string> keys;
  std::string value;
  std::string expected;
  int64_t amount = 0;
  std::chrono::milliseconds timeout{0};
};

struct StoreReply {
  bool ok = false;
  std::string value;
  int64_t number = 0;
  std::string error;
};

}  // namespace dynatrain::agent

#endif  // AGENT_CLIENT_MESSAGES_H_
