// Carries what the ranks write to the agent's own standard output and error,
// each line with its rank's prefix.
#ifndef AGENT_LOG_RELAY_H_
#define AGENT_LOG_RELAY_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/line_prefixer.h"
#include "base/deadline.h"
#include "base/unique_fd.h"

namespace dynatrain::agent {

class LogRelay {
 public:
  struct Stream {
    UniqueFd from;
    int to = -1;  // not owned
    LinePrefixer prefixer;
    bool open = true;
  };

  // Starts the thread that carries `streams`.
  static absl::StatusOr<std::unique_ptr<LogRelay>> Start(
      std::vector<Stream> streams);
  // Waits until all streams have ended, at most `grace` more: a grandchild may
  // hold one open. Incomplete last lines are written too.
  void Finish(std::chrono::milliseconds grace);
  ~LogRelay();

 private:
  LogRelay(std::vector<Stream> streams, UniqueFd finish)
      : streams_(std::move(streams)), finish_(std::move(finish)) {}
  void Carry();
  // Waits for input and passes it on; false if there can't be any more.
  bool CarryOnce(Deadline deadline, bool finishing);

  std::vector<Stream> streams_;
  const UniqueFd finish_;  // eventfd
  std::atomic<std::chrono::milliseconds> grace_{};
  std::thread thread_;
};

}  // namespace dynatrain::agent

#endif  // AGENT_LOG_RELAY_H_
