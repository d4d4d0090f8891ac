// An agent without rank processes: the protocol is real (transition/commit's
// Participant behind gRPC on loopback), the training is made up.
//
// Ranks take a step every so often, prepare and transfer in a fixed time, and
// never fail unless they are told to.
#ifndef TESTS_KUBE_FAKE_AGENT_H_
#define TESTS_KUBE_FAKE_AGENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "agent/client/messages.h"
#include "transition/commit/participant.h"

namespace dynatrain::control {

// At which step each generation of each job began: what a joining rank would
// get with the state.
class FakeCheckpoints {
 public:
  void Put(const std::string& job_uid, uint64_t generation, uint64_t step);
  uint64_t Get(const std::string& job_uid, uint64_t generation) const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::pair<std::string, uint64_t>, uint64_t> steps_
      ABSL_GUARDED_BY(mutex_);
};

struct FakeAgentOptions {
  std::string job_uid;
  std::string key;
  std::string ip;
  int port = 0;
  uint32_t serial = 0;
  int ranks = 1;
  absl::Duration step = absl::Milliseconds(20);
  absl::Duration prepare = absl::Milliseconds(40);
  absl::Duration transfer = absl::Milliseconds(10);
};

class FakeAgent {
 public:
  // One line of JSON per command that it got.
  using Log = std::function<void(const std::string&)>;

  // kUnavailable if it can't listen.
  static absl::StatusOr<std::unique_ptr<FakeAgent>> Start(
      FakeAgentOptions options, FakeCheckpoints* checkpoints, Log log);
  ~FakeAgent();

  // SIGTERM: a leave notice. SIGKILL comes after `grace`.
  void Leave(absl::Duration grace);
  // Its ranks take no further step until it is set back.
  void Hang(bool hangs);
  // Its ranks say of any step to stop at that it is too late for it.
  void Refuse(bool refuses);
  // The data is exhausted: all ranks end with 0.
  void Finish();
  // Once its process would have ended.
  std::optional<int> exit_code() const;

 private:
  class Service;
  class Server;

  FakeAgent(FakeAgentOptions options, FakeCheckpoints* checkpoints, Log log);
  void Loop(std::stop_token stop);
  void Tick(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Follow(const transition::RankOrder& order, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Step(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename Report>
  void ForRanks(Report report) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  agent::Observation Look() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs a command and logs it with its outcome.
  template <typename Command>
  absl::Status Obey(const char* name, const transition::Fence& fence,
                    Command command) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Prepare(const transition::Fence& fence,
                       const agent::Transition& transition);

  const FakeAgentOptions options_;
  FakeCheckpoints* const checkpoints_;
  const Log log_;

  mutable absl::Mutex mutex_;
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 1;
  transition::Participant participant_ ABSL_GUARDED_BY(mutex_);
  agent::Transition transition_ ABSL_GUARDED_BY(mutex_);
  std::string plan_digest_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;  // that it trains in
  uint64_t step_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t armed_step_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not armed
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
  bool refuses_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time next_step_ ABSL_GUARDED_BY(mutex_);
  absl::Time prepared_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time verified_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time in_doubt_since_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Time> killed_at_ ABSL_GUARDED_BY(mutex_);
  std::optional<int> exit_code_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Service> service_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

}  // namespace dynatrain::control

#endif  // TESTS_KUBE_FAKE_AGENT_H_
