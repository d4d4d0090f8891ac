// The life of a pod's rank processes: starts them, reaps them and every orphan
// (the agent is the container's first process), passes signals on, and ends
// them when AgentState says so.
#ifndef AGENT_SUPERVISOR_H_
#define AGENT_SUPERVISOR_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/agent_state.h"
#include "agent/config.h"
#include "agent/log_relay.h"
#include "base/unique_fd.h"

namespace dynatrain::agent {

// The exit code of the agent whose ranks ended with `codes`; `first_failure` is
// the code of the rank that failed first, if one did.
int ExitCode(const std::vector<int>& codes, std::optional<int> first_failure,
             const std::optional<Ending>& ending);

class Supervisor {
 public:
  using Clock = std::chrono::steady_clock;

  // Blocks, in this thread and those it starts, the signals that Run receives.
  // REQUIRES: called before any other thread exists.
  static absl::StatusOr<std::unique_ptr<Supervisor>> Create();

  // Makes Run look at the state. Thread-safe.
  void Wake();

  // Starts the ranks and stays until all have ended. Returns the exit code.
  absl::StatusOr<int> Run(const AgentConfig& config,
                          const std::vector<std::string>& command,
                          AgentState* state);

 private:
  struct Child {
    pid_t pid = 0;
    std::optional<int> code;
  };
  // What an ending does to ranks that don't end by themselves, and when.
  struct Push {
    Clock::time_point when;
    int signal;
  };

  Supervisor(UniqueFd signals, UniqueFd wake)
      : signals_(std::move(signals)), wake_(std::move(wake)) {}

  absl::Status StartAll(const AgentConfig& config,
                        const std::vector<std::string>& command);
  bool AllEnded() const;
  void WaitForEvent();
  void OnSignal(int signal);
  void Reap();
  void OnEnding();
  void PushOn(Clock::time_point now);
  void SignalRank(int rank, int signal);

  const UniqueFd signals_;  // signalfd
  const UniqueFd wake_;     // eventfd
  AgentState* state_ = nullptr;
  std::chrono::seconds grace_{0};
  std::vector<Child> children_;
  std::unique_ptr<LogRelay> relay_;
  std::optional<int> first_failure_;
  bool ending_seen_ = false;
  std::vector<Push> pushes_;  // soonest first
};

}  // namespace dynatrain::agent

#endif  // AGENT_SUPERVISOR_H_
