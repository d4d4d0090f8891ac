// A real agent process with fake ranks, and the operator's hands on it.
#ifndef TESTS_AGENT_AGENT_PROCESS_H_
#define TESTS_AGENT_AGENT_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "agent/client/agent_api.h"
#include "agent/client/messages.h"

namespace dynatrain::agent {

inline constexpr char kTestKey[] = "00112233445566778899aabbccddeeff";
// No test waits longer for anything; on a loaded machine under a sanitizer
// things take long.
inline constexpr std::chrono::seconds kPatience{60};

class AgentProcess {
 public:
  struct Options {
    uint32_t serial = 0;
    int ranks = 1;
    std::string tricks;  // FAKE_RANK
    int grace_seconds = 120;
    std::vector<std::string> command;  // instead of the fake rank
  };

  // Starts it and waits until it serves. Dies if it doesn't.
  explicit AgentProcess(Options options);
  // Kills what is left of it and its ranks.
  ~AgentProcess();

  AgentApi& api() { return *api_; }
  std::string address() const;
  uint32_t serial() const { return options_.serial; }
  pid_t pid() const { return pid_; }

  // Long-polls until `wanted` holds; dies after kPatience, saying `what`.
  Observation Await(const std::string& what,
                    const std::function<bool(const Observation&)>& wanted);
  // All ranks have said hello.
  Observation AwaitHello();
  Observation AwaitPhase(transition::Phase phase);
  Observation Look();

  void Signal(int signal);
  // Waits for the end, of its output too, and returns the exit code
  // (128 + signal).
  int AwaitExit();
  // Waits until a line of its output or error contains `text`.
  void AwaitLine(const std::string& text) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string Output() ABSL_LOCKS_EXCLUDED(mutex_);

  // The member of a world that this agent is, with its ranks' process ids.
  Member AsMember();
  int CountThreads() const;
  int CountFiles() const;

 private:
  void Read(int stream) ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  pid_t pid_ = 0;
  bool reaped_ = false;
  int port_ = 0;
  std::string socket_;
  int files_[2] = {-1, -1};
  std::vector<std::thread> readers_;
  std::unique_ptr<AgentApi> api_;
  absl::Mutex mutex_;
  std::string text_[2] ABSL_GUARDED_BY(mutex_);  // output, error
};

}  // namespace dynatrain::agent

#endif  // TESTS_AGENT_AGENT_PROCESS_H_
