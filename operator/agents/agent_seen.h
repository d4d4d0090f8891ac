// AgentSeen: what an agent said last, and when that was.
#ifndef OPERATOR_AGENTS_AGENT_SEEN_H_
#define OPERATOR_AGENTS_AGENT_SEEN_H_

#include "absl/time/time.h"
#include "agent/client/messages.h"

namespace dynatrain::control {

struct AgentSeen {
  agent::Observation observation;
  absl::Time received = absl::InfinitePast();
};

// An agent is asked again at least every 5 s; one that was not heard for longer
// than this is silent.
inline constexpr absl::Duration kSilentAfter = absl::Seconds(15);

}  // namespace dynatrain::control

#endif  // OPERATOR_AGENTS_AGENT_SEEN_H_
