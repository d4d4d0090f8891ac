// Exit codes of the agent, read by the operator: part of docs/design/0001.
#ifndef AGENT_EXIT_CODE_H_
#define AGENT_EXIT_CODE_H_

namespace dynatrain::agent {

inline constexpr int kExitDone = 0;
inline constexpr int kExitBadUsage = 2;
inline constexpr int kExitLeft = 86;        // left the layout as told
inline constexpr int kExitDismissed = 87;   // the job is deleted or restarted
inline constexpr int kExitCannotRun = 126;  // as a shell says it

}  // namespace dynatrain::agent

#endif  // AGENT_EXIT_CODE_H_
