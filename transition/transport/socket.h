// The few socket calls that dialer and listener share.
#ifndef TRANSITION_TRANSPORT_SOCKET_H_
#define TRANSITION_TRANSPORT_SOCKET_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/deadline.h"
#include "base/unique_fd.h"
#include "transition/transport/cancellation.h"

namespace dynatrain::transition {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  // "10.0.0.3:4711" or "[fd00::3]:4711". Returns kInvalidArgument for anything
  // else: names are not resolved.
  static absl::StatusOr<SocketAddress> Parse(absl::string_view text);
  // The name in the abstract namespace under which a process's shared-memory
  // listener is found by those in its pod.
  static SocketAddress LocalOf(uint64_t process_id);
  // What `socket` is bound to.
  static absl::StatusOr<SocketAddress> Of(int socket);

  std::string ToString() const;
  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

// A non-blocking socket that listens at `address`.
absl::StatusOr<UniqueFd> Listen(const SocketAddress& address);

// A non-blocking connected socket. Errors: kUnavailable, kDeadlineExceeded,
// kCancelled; each names the address.
absl::StatusOr<UniqueFd> Connect(const SocketAddress& address,
                                 Deadline deadline, const Cancellation& cancel);

// All of `bytes`, waiting as needed. `what` begins the error's message.
absl::Status SendAll(int socket, absl::string_view bytes, Deadline deadline,
                     const Cancellation& cancel, absl::string_view what);

// Exactly `size` bytes, and the descriptors that came with them.
absl::StatusOr<std::string> ReceiveAll(int socket, size_t size,
                                       Deadline deadline,
                                       const Cancellation& cancel,
                                       absl::string_view what,
                                       std::vector<UniqueFd>* descriptors);

// Sends `bytes` with `descriptors` in one message, without waiting.
absl::Status SendWithDescriptors(int socket, absl::string_view bytes,
                                 absl::Span<const int> descriptors);

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_SOCKET_H_
