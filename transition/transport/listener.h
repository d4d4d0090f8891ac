// The listening side of links: one thread that greets those who dial this
// process, over TCP and, for shared memory, over an abstract Unix socket.
//
// A dialer that comes before this process knows of its transition is parked
// until Expect() is called for it, so it doesn't matter who prepares first.
// What is refused (wrong key, protocol, process, a transition that nobody here
// prepares for too long) is told why, and nothing else happens.
#ifndef TRANSITION_TRANSPORT_LISTENER_H_
#define TRANSITION_TRANSPORT_LISTENER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/deadline.h"
#include "base/fingerprint.h"
#include "base/unique_fd.h"
#include "transition/transport/cancellation.h"
#include "transition/transport/greeting.h"
#include "transition/transport/link.h"

namespace dynatrain::transition {

// Thread-safe.
class LinkListener {
 public:
  struct Options {
    uint64_t process_id = 0;
    std::string ip;  // "10.0.0.3"; the port is the kernel's choice
    std::string key;
    // For a stranger to prove itself.
    std::chrono::milliseconds handshake_limit{10'000};
    // For one that has, to be expected.
    std::chrono::milliseconds park_limit{60'000};
    // Dialers greeted at a time; more are accepted when some are done.
    size_t max_greetings = 1024;
  };

  static absl::StatusOr<std::unique_ptr<LinkListener>> Create(Options options);
  ~LinkListener();

  // "ip:port", for those in other pods.
  const std::string& address() const { return address_; }

  struct ExpectedPeer {
    std::string name;          // "rank 3 (serial 1)"
    size_t staging_bytes = 0;  // per direction
  };
  using ExpectedPeers = std::map<uint64_t, ExpectedPeer>;  // by process id

  // Takes links of `peers` for this attempt at `generation` from now on,
  // in place of an earlier attempt at it. Fails only for want of descriptors.
  absl::Status Expect(uint64_t generation, const Fingerprint& attempt,
                      ExpectedPeers peers) ABSL_LOCKS_EXCLUDED(mutex_);
  // The link that `process_id` dialed; waits for it. REQUIRES: Expect() named
  // it, and each link is taken once.
  absl::StatusOr<std::unique_ptr<Link>> Take(uint64_t generation,
                                             uint64_t process_id,
                                             Deadline deadline,
                                             const Cancellation& cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes no more links for `generation` and closes those not taken.
  void Forget(uint64_t generation) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Expectation {
    Fingerprint attempt;
    ExpectedPeers peers;
    std::map<uint64_t, std::unique_ptr<Link>> arrived;
    // eventfd; shared with those who wait on it.
    std::shared_ptr<const UniqueFd> arrival;
  };

  LinkListener(Options options, UniqueFd tcp, UniqueFd local, UniqueFd wake,
               std::string address);
  void Run();
  void Accept(int listener, bool local);
  // Goes on with a greeting as far as it can; false if it is over.
  bool Advance(Greeting& greeting);
  // What to do with a dialer that has proved itself: OK if it became a link,
  // kUnavailable if it has to wait, else why it is refused.
  absl::Status Match(Greeting& greeting) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Unexpected(const Hello& hello)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Deadline NextDeadline() const;
  bool Accepting() const;
  void Wake();

  const Options options_;
  const UniqueFd tcp_;
  const UniqueFd local_;
  const UniqueFd wake_;  // eventfd: an expectation was added, or stop
  const std::string address_;
  // Of the thread alone.
  std::vector<std::unique_ptr<Greeting>> greetings_;
  Deadline accept_from_ = Deadline::After(std::chrono::milliseconds(0));
  absl::Mutex mutex_;
  std::map<uint64_t, Expectation> expected_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_LISTENER_H_
