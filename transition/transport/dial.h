// The dialer's side of a link.
#ifndef TRANSITION_TRANSPORT_DIAL_H_
#define TRANSITION_TRANSPORT_DIAL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/deadline.h"
#include "transition/transport/cancellation.h"
#include "transition/transport/handshake.h"
#include "transition/transport/link.h"

namespace dynatrain::transition {

struct DialOptions {
  // Who calls whom about what; its nonce is made by Dial.
  Hello hello;
  std::string key;
  std::string address;  // "ip:port"; unused if `local`
  bool local = false;   // the listener is in this pod: shared memory
  std::string peer;     // "rank 3 (serial 1)"
};

// Connects and shakes hands. Errors name the peer: kUnavailable,
// kDeadlineExceeded, kCancelled, kPermissionDenied if either side's key is
// wrong, and whatever the listener refuses with.
absl::StatusOr<std::unique_ptr<Link>> Dial(DialOptions options,
                                           Deadline deadline,
                                           const Cancellation& cancel);

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_DIAL_H_
