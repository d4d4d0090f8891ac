#include "tests/kube/fake_api_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace dynatrain::control {
namespace {

void SendAll(int fd, const std::string& bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n =
        send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return;  // The client went away: what a test may want.
    at += n;
  }
}

void ParseHeaders(absl::string_view head, FakeRequest& request,
                  size_t& body_bytes) {
  const std::vector<std::string> lines = absl::StrSplit(head, "\r\n");
  const std::vector<std::string> first = absl::StrSplit(lines[0], ' ');
  request.method = first[0];
  request.target = first.size() > 1 ? first[1] : "";
  body_bytes = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> header =
        absl::StrSplit(lines[i], absl::MaxSplits(": ", 1));
    if (header.size() != 2) continue;
    const std::string name = absl::AsciiStrToLower(header[0]);
    if (name == "content-length") {
      (void)absl::SimpleAtoi(header[1], &body_bytes);
    } else if (name == "content-type") {
      request.content_type = header[1];
    } else if (name == "authorization") {
      request.token = std::string(absl::StripPrefix(header[1], "Bearer "));
    }
  }
}

}  // namespace

void FakeExchange::Raw(const std::string& bytes) { SendAll(fd_, bytes); }

void FakeExchange::Respond(int code, const std::string& body,
                           const std::string& headers,
                           const std::string& content_type) {
  Raw(absl::StrCat("HTTP/1.1 ", code, " X\r\nContent-Type: ", content_type,
                   "\r\nContent-Length: ", body.size(), "\r\n", headers, "\r\n",
                   body));
}

void FakeExchange::StartStream() {
  Raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
}

void FakeExchange::Chunk(const std::string& bytes) {
  Raw(absl::StrFormat("%x\r\n%s\r\n", bytes.size(), bytes));
}

void FakeExchange::EndStream() { Raw("0\r\n\r\n"); }

void FakeExchange::Event(const std::string& type, const Json& object) {
  Chunk(Json({{"type", type}, {"object", object}}).dump() + "\n");
}

void FakeExchange::Reset() {
  const linger now = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close_ = true;
}

void FakeExchange::StaySilent() {
  // Ends by the client's FIN, or by the server's shutdown() of this socket.
  pollfd wait = {.fd = fd_, .events = POLLIN | POLLRDHUP, .revents = 0};
  poll(&wait, 1, -1);
  close_ = true;
}

FakeApiServer::FakeApiServer() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, size) != 0 || listen(listener_, 64) != 0 ||
      getsockname(listener_, generic, &size) != 0) {
    std::perror("FakeApiServer");
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

FakeApiServer::~FakeApiServer() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    shutdown(listener_, SHUT_RDWR);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  acceptor_.join();
  {
    absl::MutexLock lock(&mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
  close(listener_);
}

ServerAddress FakeApiServer::address() const {
  return {.tls = false, .host = "127.0.0.1", .port = port_};
}

void FakeApiServer::OnWatch(FakeScript script) {
  absl::MutexLock lock(&mutex_);
  watches_.push_back(std::move(script));
}

void FakeApiServer::OnRequest(FakeScript script) {
  absl::MutexLock lock(&mutex_);
  others_.push_back(std::move(script));
}

std::vector<FakeRequest> FakeApiServer::requests() const {
  absl::MutexLock lock(&mutex_);
  return requests_;
}

bool FakeApiServer::WaitForRequests(size_t count,
                                    absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  const auto enough = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return requests_.size() >= count;
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), timeout);
}

void FakeApiServer::Accept() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    absl::MutexLock lock(&mutex_);
    if (ending_ || fd < 0) {
      if (fd >= 0) close(fd);
      return;
    }
    open_.push_back(fd);
    threads_.emplace_back([this, fd] { Serve(fd); });
  }
}

void FakeApiServer::Serve(int fd) {
  std::string buffer;
  FakeRequest request;
  while (ReadRequest(fd, buffer, request)) {
    FakeExchange exchange(fd, request);
    Next(request)(exchange);
    if (exchange.close_) break;
  }
  absl::MutexLock lock(&mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), fd));
  close(fd);
}

bool FakeApiServer::ReadRequest(int fd, std::string& buffer,
                                FakeRequest& request) {
  request = {};
  size_t head_end = std::string::npos, body_bytes = 0;
  while (true) {
    if (head_end == std::string::npos) {
      head_end = buffer.find("\r\n\r\n");
      if (head_end != std::string::npos) {
        ParseHeaders(buffer.substr(0, head_end), request, body_bytes);
      }
    }
    if (head_end != std::string::npos &&
        buffer.size() >= head_end + 4 + body_bytes) {
      request.body = buffer.substr(head_end + 4, body_bytes);
      buffer.erase(0, head_end + 4 + body_bytes);
      return true;
    }
    char bytes[4096];
    const ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
    if (n <= 0) return false;
    buffer.append(bytes, n);
  }
}

FakeScript FakeApiServer::Next(const FakeRequest& request) {
  absl::MutexLock lock(&mutex_);
  requests_.push_back(request);
  std::deque<FakeScript>& queue =
      absl::StrContains(request.target, "watch=1") ? watches_ : others_;
  if (queue.empty()) {
    return [](FakeExchange& exchange) { exchange.Respond(404, "no script"); };
  }
  FakeScript script = queue.front();
  if (queue.size() > 1) queue.pop_front();
  return script;
}

}  // namespace dynatrain::control
