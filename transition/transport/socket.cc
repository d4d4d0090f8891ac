#include "transition/transport/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::transition {
namespace {

constexpr int kBacklog = 512;
constexpr size_t kMaxDescriptors = 4;

absl::Status ErrnoStatus(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(errno)));
}

absl::Status WaitFor(int socket, short events, Deadline deadline,
                     const Cancellation& cancel, absl::string_view what) {
  pollfd fds[] = {{socket, events, 0}, {cancel.fd(), POLLIN, 0}};
  while (true) {
    const int n = poll(fds, 2, deadline.PollTimeoutMs());
    if (n < 0 && errno != EINTR) return ErrnoStatus(what);
    if (cancel.cancelled()) return WithContext(cancel.status(), what);
    if (n > 0 && fds[0].revents != 0) return absl::OkStatus();
    if (deadline.Passed()) {
      return absl::DeadlineExceededError(
          absl::StrCat(what, ": the deadline passed"));
    }
  }
}

// The descriptors in a received message, owned.
void TakeDescriptors(msghdr& message, std::vector<UniqueFd>* descriptors) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      descriptors->emplace_back(fd);
    }
  }
}

}  // namespace

absl::StatusOr<SocketAddress> SocketAddress::Parse(absl::string_view text) {
  SocketAddress address;
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &port) || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no address of the form ip:port"));
  }
  std::string ip(text.substr(0, colon));
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, ip.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.size = sizeof(*v4);
    return address;
  }
  if (ip.size() > 2 && ip.front() == '[' && ip.back() == ']') {
    ip = ip.substr(1, ip.size() - 2);
    if (inet_pton(AF_INET6, ip.c_str(), &v6->sin6_addr) == 1) {
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(port);
      address.size = sizeof(*v6);
      return address;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is no address: ip must be like 10.0.0.3 or [fd00::3]"));
}

SocketAddress SocketAddress::LocalOf(uint64_t process_id) {
  SocketAddress address;
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  local->sun_family = AF_UNIX;
  // A leading zero byte: no file, gone with the process.
  const std::string name =
      absl::StrCat("dynatrain/", absl::Hex(process_id, absl::kZeroPad16));
  memcpy(local->sun_path + 1, name.data(), name.size());
  address.size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  return address;
}

absl::StatusOr<SocketAddress> SocketAddress::Of(int socket) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage),
                  &address.size) != 0) {
    return ErrnoStatus("getsockname");
  }
  return address;
}

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
    return absl::StrCat(text, ":", ntohs(v4->sin_port));
  }
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
    return absl::StrCat("[", text, "]:", ntohs(v6->sin6_port));
  }
  const auto* local = reinterpret_cast<const sockaddr_un*>(&storage);
  return absl::StrCat(
      "@", absl::string_view(local->sun_path + 1,
                             size - offsetof(sockaddr_un, sun_path) - 1));
}

absl::StatusOr<UniqueFd> Listen(const SocketAddress& address) {
  UniqueFd socket(::socket(address.storage.ss_family,
                           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return ErrnoStatus("socket");
  if (bind(socket.get(), address.get(), address.size) != 0) {
    return ErrnoStatus(absl::StrCat("binding to ", address.ToString()));
  }
  if (listen(socket.get(), kBacklog) != 0) {
    return ErrnoStatus(absl::StrCat("listening at ", address.ToString()));
  }
  return socket;
}

absl::StatusOr<UniqueFd> Connect(const SocketAddress& address,
                                 Deadline deadline,
                                 const Cancellation& cancel) {
  const std::string what = absl::StrCat("connecting to ", address.ToString());
  UniqueFd socket(::socket(address.storage.ss_family,
                           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return ErrnoStatus(what);
  if (connect(socket.get(), address.get(), address.size) == 0) return socket;
  if (errno != EINPROGRESS) return ErrnoStatus(what);
  RETURN_IF_ERROR(WaitFor(socket.get(), POLLOUT, deadline, cancel, what));
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    errno = error;
    return ErrnoStatus(what);
  }
  return socket;
}

absl::Status SendAll(int socket, absl::string_view bytes, Deadline deadline,
                     const Cancellation& cancel, absl::string_view what) {
  while (!bytes.empty()) {
    RETURN_IF_ERROR(WaitFor(socket, POLLOUT, deadline, cancel, what));
    const ssize_t n =
        send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      bytes.remove_prefix(n);
    } else if (errno != EAGAIN && errno != EINTR) {
      return ErrnoStatus(what);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReceiveAll(int socket, size_t size,
                                       Deadline deadline,
                                       const Cancellation& cancel,
                                       absl::string_view what,
                                       std::vector<UniqueFd>* descriptors) {
  std::string bytes(size, '\0');
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
  size_t have = 0;
  while (have < size) {
    RETURN_IF_ERROR(WaitFor(socket, POLLIN, deadline, cancel, what));
    iovec buffer = {&bytes[have], size - have};
    msghdr message = {};
    message.msg_iov = &buffer;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t n =
        recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n == 0) {
      return absl::UnavailableError(
          absl::StrCat(what, ": the other side closed the connection"));
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR) return ErrnoStatus(what);
    if (n > 0) {
      TakeDescriptors(message, descriptors);
      have += n;
    }
  }
  return bytes;
}

absl::Status SendWithDescriptors(int socket, absl::string_view bytes,
                                 absl::Span<const int> descriptors) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  iovec buffer = {const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message = {};
  message.msg_iov = &buffer;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    memcpy(CMSG_DATA(c), descriptors.data(), descriptors.size() * sizeof(int));
  }
  const ssize_t n = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n != std::ssize(bytes)) {
    return n < 0 ? ErrnoStatus("sendmsg")
                 : absl::UnavailableError("sendmsg sent only a part");
  }
  return absl::OkStatus();
}

}  // namespace dynatrain::transition
