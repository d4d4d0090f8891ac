#include "api/rank/frame_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::api {
namespace {

absl::Status ErrnoStatus(absl::string_view doing) {
  return absl::UnavailableError(absl::StrCat(doing, ": ", strerror(errno)));
}

absl::StatusOr<sockaddr_un> UnixAddress(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "socket path \"", path, "\" must have 1 to ",
        sizeof(address.sun_path) - 1, " bytes, it has ", path.size()));
  }
  memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace

FrameChannel::FrameChannel(UniqueFd socket, UniqueFd cancel,
                           absl::string_view peer)
    : socket_(std::move(socket)), cancel_(std::move(cancel)), peer_(peer) {}

absl::StatusOr<std::unique_ptr<FrameChannel>> FrameChannel::Create(
    UniqueFd socket, absl::string_view peer) {
  const int flags = fcntl(socket.get(), F_GETFL);
  if (flags < 0 || fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) < 0) {
    return ErrnoStatus(
        absl::StrCat("making the socket to ", peer, " non-blocking"));
  }
  UniqueFd cancel(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!cancel.valid()) return ErrnoStatus("eventfd");
  return std::unique_ptr<FrameChannel>(
      new FrameChannel(std::move(socket), std::move(cancel), peer));
}

absl::StatusOr<std::unique_ptr<FrameChannel>> FrameChannel::Connect(
    const std::string& path, Deadline deadline) {
  ASSIGN_OR_RETURN(const sockaddr_un address, UnixAddress(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return ErrnoStatus("socket(AF_UNIX)");
  // A Unix connect blocks only while the listener's backlog is full; the
  // send time-out bounds that.
  const int left_ms = deadline.PollTimeoutMs();
  const timeval limit = {left_ms < 0 ? 0 : left_ms / 1000,
                         left_ms < 0 ? 0 : left_ms % 1000 * 1000};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) != 0) {
    return ErrnoStatus(absl::StrCat("connecting to ", path));
  }
  return Create(std::move(socket), path);
}

absl::Status FrameChannel::Wait(short events, Deadline deadline,
                                absl::string_view what) {
  pollfd fds[] = {{socket_.get(), events, 0}, {cancel_.get(), POLLIN, 0}};
  while (true) {
    const int n = poll(fds, 2, deadline.PollTimeoutMs());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus("poll");
    if (fds[1].revents != 0) {
      return absl::CancelledError(
          absl::StrCat(what, " ", peer_, " was cancelled"));
    }
    if (fds[0].revents != 0) return absl::OkStatus();
    if (deadline.Passed()) {
      return absl::DeadlineExceededError(
          absl::StrCat("the deadline passed while ", what, " ", peer_));
    }
  }
}

absl::Status FrameChannel::Send(const Frame& frame, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::string bytes, EncodeFrame(frame));
  const std::string what = absl::StrCat("sending \"", frame.kind(), "\" to");
  absl::MutexLock lock(&send_mutex_);
  absl::string_view rest = bytes;
  while (!rest.empty()) {
    RETURN_IF_ERROR(Wait(POLLOUT, deadline, what));
    const ssize_t n =
        send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      rest.remove_prefix(n);
    } else if (errno != EAGAIN && errno != EINTR) {
      return ErrnoStatus(absl::StrCat(what, " ", peer_));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Frame> FrameChannel::Receive(Deadline deadline) {
  absl::MutexLock lock(&receive_mutex_);
  char bytes[64 << 10];
  while (true) {
    ASSIGN_OR_RETURN(std::optional<Frame> frame, reader_.Next());
    if (frame.has_value()) return *std::move(frame);
    RETURN_IF_ERROR(Wait(POLLIN, deadline, "waiting for a frame of"));
    const ssize_t n = recv(socket_.get(), bytes, sizeof(bytes), 0);
    if (n > 0) {
      reader_.Feed(absl::string_view(bytes, n));
    } else if (n == 0) {
      return absl::UnavailableError(absl::StrCat(
          peer_, " closed the connection",
          reader_.AtBoundary() ? "" : " in the middle of a frame"));
    } else if (errno != EAGAIN && errno != EINTR) {
      return ErrnoStatus(absl::StrCat("receiving from ", peer_));
    }
  }
}

void FrameChannel::Cancel() {
  const uint64_t one = 1;
  // Fails only if the counter is full, and then it is readable already.
  [[maybe_unused]] const ssize_t n = write(cancel_.get(), &one, sizeof(one));
}

}  // namespace dynatrain::api
