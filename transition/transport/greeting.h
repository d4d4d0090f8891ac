// One dialer's handshake, seen from the listener: a state machine over a
// non-blocking socket.
#ifndef TRANSITION_TRANSPORT_GREETING_H_
#define TRANSITION_TRANSPORT_GREETING_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/deadline.h"
#include "base/unique_fd.h"
#include "transition/transport/handshake.h"
#include "transition/transport/link.h"

namespace dynatrain::transition {

// Thread-compatible.
class Greeting {
 public:
  enum class State { kHello, kProof, kProved };

  // `local`: the socket is a Unix socket, and the link will be shared memory.
  Greeting(UniqueFd socket, bool local, uint64_t process_id, std::string key,
           Deadline deadline);

  int socket() const { return socket_.get(); }
  State state() const { return state_; }
  // When the present state has to be over.
  Deadline deadline() const { return deadline_; }
  // REQUIRES: state() != kHello.
  const Hello& hello() const { return hello_; }

  // Reads what has come. Returns why the dialer has to be refused, kUnavailable
  // if it is gone. On kProved the deadline becomes `park`.
  absl::Status Advance(Deadline park);
  // Tells the dialer why not. Nothing can be done if it doesn't hear.
  void Refuse(const absl::Status& why);
  // Welcomes a dialer that is kProved; staging is the least of what both spare.
  absl::StatusOr<std::unique_ptr<Link>> Welcome(size_t staging_bytes,
                                                const std::string& peer);

 private:
  // True once `size` bytes are in received_.
  absl::StatusOr<bool> Receive(size_t size);
  absl::Status TakeHello();
  absl::Status TakeProof();

  UniqueFd socket_;
  const bool local_;
  const uint64_t process_id_;
  const std::string key_;
  Deadline deadline_;
  State state_ = State::kHello;
  std::string received_;
  Hello hello_;
  Nonce nonce_ = {};
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_GREETING_H_
