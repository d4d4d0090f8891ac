#include "transition/transport/tcp_link.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::transition {
namespace {

// Enough for a few ms at 10 Gb/s, so that a sender isn't held up each time the
// receiver's thread is scheduled away. The kernel caps it at net.core.*mem_max.
constexpr int kKernelBufferBytes = 4 << 20;

}  // namespace

TcpLink::TcpLink(UniqueFd socket, size_t staging_bytes, std::string peer)
    : Link(std::move(peer)), socket_(std::move(socket)) {
  out_.memory.resize(staging_bytes);
  in_.memory.resize(staging_bytes);
}

absl::StatusOr<std::unique_ptr<TcpLink>> TcpLink::Create(UniqueFd socket,
                                                         size_t staging_bytes,
                                                         std::string peer) {
  const int flags = fcntl(socket.get(), F_GETFL);
  if (flags < 0 || fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) < 0) {
    return absl::InternalError(
        absl::StrCat("link to ", peer, ": fcntl: ", strerror(errno)));
  }
  // Refused on other families, where there is nothing to switch off.
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  for (int buffer : {SO_SNDBUF, SO_RCVBUF}) {
    setsockopt(socket.get(), SOL_SOCKET, buffer, &kKernelBufferBytes,
               sizeof(kKernelBufferBytes));
  }
  return std::unique_ptr<TcpLink>(
      new TcpLink(std::move(socket), staging_bytes, std::move(peer)));
}

absl::StatusOr<size_t> TcpLink::Send(const std::byte* from, size_t size) {
  while (true) {
    const ssize_t n =
        send(socket_.get(), from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      bytes_sent_ += n;
      return n;
    }
    if (errno == EAGAIN) return 0;
    if (errno == EINTR) continue;
    return absl::UnavailableError(
        absl::StrCat("sending to ", peer(), ": ", strerror(errno)));
  }
}

absl::StatusOr<size_t> TcpLink::Receive(std::byte* to, size_t size) {
  while (true) {
    const ssize_t n = recv(socket_.get(), to, size, MSG_DONTWAIT);
    if (n > 0) {
      bytes_received_ += n;
      return n;
    }
    if (n == 0) {
      return absl::UnavailableError(
          absl::StrCat(peer(), " closed its connection"));
    }
    if (errno == EAGAIN) return 0;
    if (errno == EINTR) continue;
    return absl::UnavailableError(
        absl::StrCat("receiving from ", peer(), ": ", strerror(errno)));
  }
}

absl::StatusOr<absl::Span<std::byte>> TcpLink::Space() {
  // What the socket didn't take in Commit() goes first: nobody else would push
  // it on while the caller waits for space.
  RETURN_IF_ERROR(Flush().status());
  return absl::MakeSpan(out_.memory).subspan(out_.end);
}

absl::Status TcpLink::Commit(size_t bytes) {
  out_.end += bytes;
  return Flush().status();
}

absl::StatusOr<bool> TcpLink::Flush() {
  while (out_.size() > 0) {
    ASSIGN_OR_RETURN(const size_t n,
                     Send(out_.memory.data() + out_.begin, out_.size()));
    if (n == 0) return false;
    out_.Drop(n);
  }
  return true;
}

absl::StatusOr<size_t> TcpLink::Write(absl::Span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(const bool empty, Flush());
  if (!empty) return 0;
  return Send(bytes.data(), bytes.size());
}

absl::StatusOr<absl::Span<const std::byte>> TcpLink::Available() {
  if (in_.size() == 0) {
    ASSIGN_OR_RETURN(in_.end, Receive(in_.memory.data(), in_.memory.size()));
  }
  return absl::MakeConstSpan(in_.memory).subspan(in_.begin, in_.size());
}

void TcpLink::Consume(size_t bytes) { in_.Drop(bytes); }

absl::StatusOr<size_t> TcpLink::Read(absl::Span<std::byte> bytes) {
  if (in_.size() == 0) return Receive(bytes.data(), bytes.size());
  const size_t n = std::min(bytes.size(), in_.size());
  memcpy(bytes.data(), in_.memory.data() + in_.begin, n);
  in_.Drop(n);
  return n;
}

bool TcpLink::PrepareToWait(bool want_space, std::vector<pollfd>* fds) {
  if (in_.size() > 0) return true;
  const short events =
      want_space || out_.size() > 0 ? POLLIN | POLLOUT : POLLIN;
  fds->push_back({socket_.get(), events, 0});
  return false;
}

}  // namespace dynatrain::transition
