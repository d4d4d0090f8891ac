// Link: an ordered stream of bytes each way between two processes, driven by
// one thread that never blocks in it.
//
// Bytes are packed straight into the link's staging memory (Space, Commit) and
// unpacked straight out of it (Available, Consume); what is contiguous
// already goes past it (Write, Read). Errors, on every call and for good:
// kUnavailable when the peer is gone, kDataLoss when shared memory is
// not as it has to be. Both name the peer.
#ifndef TRANSITION_TRANSPORT_LINK_H_
#define TRANSITION_TRANSPORT_LINK_H_

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dynatrain::transition {

// Thread-compatible.
class Link {
 public:
  explicit Link(std::string peer) : peer_(std::move(peer)) {}
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // "rank 3 (serial 1)": for messages.
  const std::string& peer() const { return peer_; }
  // "shm" or "tcp".
  virtual absl::string_view transport() const = 0;

  // Free staging memory, contiguous; empty if there is none now.
  virtual absl::StatusOr<absl::Span<std::byte>> Space() = 0;
  // Sends the first `bytes` of what Space() gave.
  virtual absl::Status Commit(size_t bytes) = 0;
  // Sends a prefix of `bytes` and returns its length, 0 if nothing goes now.
  // The memory is the caller's again on return.
  virtual absl::StatusOr<size_t> Write(absl::Span<const std::byte> bytes) = 0;
  // Pushes on what staging holds; true if all of it is out of this process's
  // hands.
  virtual absl::StatusOr<bool> Flush() = 0;

  // Bytes that have come, contiguous; empty if there are none now.
  virtual absl::StatusOr<absl::Span<const std::byte>> Available() = 0;
  // REQUIRES: bytes <= Available().size().
  virtual void Consume(size_t bytes) = 0;
  // Receives into `bytes` and returns how many, 0 if there are none now.
  virtual absl::StatusOr<size_t> Read(absl::Span<std::byte> bytes) = 0;

  // Before a sleep in poll(2): appends what to poll for bytes to come and, if
  // `want_space`, for space; true if there is no reason to sleep.
  virtual bool PrepareToWait(bool want_space, std::vector<pollfd>* fds) = 0;
  // After it.
  virtual void FinishWaiting() = 0;

  // Payload that went through, staged or not.
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t bytes_received() const { return bytes_received_; }
  // Memory this link holds for staging, both directions.
  virtual size_t staging_bytes() const = 0;

 protected:
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;

 private:
  const std::string peer_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_LINK_H_
