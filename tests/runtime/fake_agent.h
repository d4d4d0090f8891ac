// An agent as rank processes see it: the real frames on a real Unix socket, and
// a test in place of operator and supervisor.
#ifndef TESTS_RUNTIME_FAKE_AGENT_H_
#define TESTS_RUNTIME_FAKE_AGENT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/rank/frame.h"
#include "api/rank/frame_channel.h"
#include "base/deadline.h"
#include "base/unique_fd.h"
#include "nlohmann/json.hpp"

namespace dynatrain::runtime {

// Thread-safe. Ranks are known by the local_rank of their hello.
class FakeAgent {
 public:
  // Listens at `socket_path`, which it removes in the end.
  explicit FakeAgent(std::string socket_path);
  ~FakeAgent();

  const std::string& socket_path() const { return socket_path_; }

  // The rank's hello; waits for it.
  absl::StatusOr<api::Frame> Hello(int rank, Deadline deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Send(int rank, nlohmann::json frame) ABSL_LOCKS_EXCLUDED(mutex_);
  // The next frame of `kind` about generation `g`, taken out of those that have
  // come. A `failed` about it that comes first is an error: kAborted with the
  // reason. kUnavailable if the rank is gone.
  absl::StatusOr<api::Frame> Expect(int rank, absl::string_view kind,
                                    uint64_t g, Deadline deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The last `step` frame; waits for one after `step`.
  absl::StatusOr<api::Frame> StepAfter(int rank, uint64_t step,
                                       Deadline deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Closes the connection, as an agent that dies does.
  void HangUp(int rank) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Rank {
    std::shared_ptr<api::FrameChannel> channel;
    std::deque<api::Frame> frames;  // but steps and store requests
    std::shared_ptr<api::Frame> hello;
    std::shared_ptr<api::Frame> last_step;
    absl::Status gone;
  };

  void Accept();
  void Serve(std::shared_ptr<api::FrameChannel> channel);
  void Take(int rank, const api::Frame& frame) ABSL_LOCKS_EXCLUDED(mutex_);
  // set, get, add: enough to see that requests find their replies.
  nlohmann::json StoreReply(const api::Frame& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string socket_path_;
  UniqueFd listener_;
  UniqueFd stop_;
  absl::Mutex mutex_;
  std::map<int, Rank> ranks_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<api::FrameChannel>> channels_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> store_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> servers_;
  std::thread acceptor_;
};

}  // namespace dynatrain::runtime

#endif  // TESTS_RUNTIME_FAKE_AGENT_H_
