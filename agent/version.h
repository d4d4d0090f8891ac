// The version that the agent reports and --version prints.
#ifndef AGENT_VERSION_H_
#define AGENT_VERSION_H_

namespace dynatrain::agent {

inline constexpr char kAgentVersion[] = "0.1.0";

}  // namespace dynatrain::agent

#endif  // AGENT_VERSION_H_
