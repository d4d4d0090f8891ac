#include "operator/kube/http_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "httplib.h"
#include "operator/kube/pem.h"

namespace dynatrain::control {
namespace {

constexpr std::chrono::seconds kConnectTimeout{10};
constexpr absl::string_view kUserAgent = "dynatrain-operator";

// A text as a file without a name, for a library that wants a path.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text)
      : fd_(memfd_create("ca", MFD_CLOEXEC)) {
    size_t at = 0;
    while (at < text.size()) {
      const ssize_t n = write(fd_, text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += n;
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_); }

 private:
  const int fd_;
};

void KeepAlive(int fd) {
  const int on = 1, idle_s = 30, interval_s = 10, count = 3;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

std::optional<absl::Duration> RetryAfter(const httplib::Response& response) {
  int seconds = 0;
  if (!absl::SimpleAtoi(response.get_header_value("Retry-After"), &seconds) ||
      seconds < 0) {
    return std::nullopt;
  }
  return absl::Seconds(seconds);
}

// A second hold on the connection's socket. httplib closes its own whenever it
// likes; shutting down this one ends the same connection and can't hit a
// stranger that got the number since.
class SocketHold {
 public:
  ~SocketHold() { Replace(-1); }

  void Hold(int fd) {
    absl::MutexLock lock(&mutex_);
    Replace(dup(fd));
    if (aborted_) shutdown(fd_, SHUT_RDWR);
  }
  void Abort() {
    absl::MutexLock lock(&mutex_);
    aborted_ = true;
    if (fd_ >= 0) shutdown(fd_, SHUT_RDWR);
  }
  bool aborted() const {
    absl::MutexLock lock(&mutex_);
    return aborted_;
  }

 private:
  void Replace(int fd) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

  mutable absl::Mutex mutex_;
  int fd_ ABSL_GUARDED_BY(mutex_) = -1;
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

class HttpConnection::Impl {
 public:
  Impl(const ServerAddress& address, TlsIdentity tls)
      : address_(address), tls_(std::move(tls)), ca_(tls_.ca) {}

  absl::Status Open();
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request);
  void Abort() { hold_.Abort(); }
  const TlsIdentity& tls() const { return tls_; }

 private:
  absl::Status OpenTls();
  absl::Status Explain(httplib::Error error, const HttpRequest& request,
                       absl::Time start, absl::Time last_byte) const;

  const ServerAddress address_;
  const TlsIdentity tls_;
  const MemoryFile ca_;
  Certificate certificate_;
  PrivateKey key_;
  SocketHold hold_;
  std::unique_ptr<httplib::ClientImpl> client_;
};

absl::Status HttpConnection::Impl::OpenTls() {
  if (!tls_.certificate.empty()) {
    ASSIGN_OR_RETURN(certificate_, ParseCertificate(tls_.certificate),
                     "client certificate");
    ASSIGN_OR_RETURN(key_, ParsePrivateKey(tls_.key), "client key");
  }
  if (!tls_.ca.empty()) {
    RETURN_IF_ERROR(ParseCertificate(tls_.ca), "certificate authority");
  }
  auto client = std::make_unique<httplib::SSLClient>(
      address_.host, address_.port, certificate_.get(), key_.get());
  if (!client->is_valid()) {
    return absl::InvalidArgumentError(
        "the client certificate and key don't belong together");
  }
  // Given no file, httplib would trust the system's authorities as well.
  if (!tls_.ca.empty()) client->set_ca_cert_path(ca_.path());
  client->enable_server_certificate_verification(!tls_.insecure);
  client_ = std::move(client);
  return absl::OkStatus();
}

absl::Status HttpConnection::Impl::Open() {
  if (address_.tls) {
    RETURN_IF_ERROR(OpenTls());
  } else {
    client_ =
        std::make_unique<httplib::ClientImpl>(address_.host, address_.port);
  }
  client_->set_keep_alive(true);
  client_->set_url_encode(false);  // Targets come encoded.
  client_->set_connection_timeout(kConnectTimeout);
  client_->set_socket_options([this](socket_t fd) {
    KeepAlive(fd);
    hold_.Hold(fd);
  });
  return absl::OkStatus();
}

absl::Status HttpConnection::Impl::Explain(httplib::Error error,
                                           const HttpRequest& request,
                                           absl::Time start,
                                           absl::Time last_byte) const {
  const std::string what =
      absl::StrCat(request.method, " ", request.target, " at ", address_.host,
                   ":", address_.port);
  const absl::Time now = absl::Now();
  if (hold_.aborted()) {
    return absl::CancelledError(absl::StrCat(what, ": stopped"));
  }
  if (now - start >= request.deadline) {
    return absl::DeadlineExceededError(absl::StrCat(
        what, ": not complete after ", absl::FormatDuration(request.deadline)));
  }
  // httplib counts in whole reads; a little less than the limit is the limit.
  if (error == httplib::Error::Read &&
      now - last_byte >= request.silence * 0.95) {
    return absl::DeadlineExceededError(absl::StrCat(
        what, ": no byte for ", absl::FormatDuration(now - last_byte)));
  }
  return absl::UnavailableError(
      absl::StrCat(what, ": ", httplib::to_string(error)));
}

absl::StatusOr<HttpResponse> HttpConnection::Impl::Send(
    const HttpRequest& request) {
  if (hold_.aborted())
    return absl::CancelledError("the connection was stopped");
  const absl::Time start = absl::Now();
  absl::Time last_byte = start;
  HttpResponse result;

  httplib::Request http;
  http.method = request.method;
  http.path = request.target;
  http.headers = {{"Accept", "application/json"},
                  // A watch in gzip would be many gzip members in one body.
                  {"Accept-Encoding", "identity"},
                  {"User-Agent", std::string(kUserAgent)}};
  if (!request.token.empty()) {
    http.headers.emplace("Authorization", "Bearer " + request.token);
  }
  if (!request.content_type.empty()) {
    http.headers.emplace("Content-Type", request.content_type);
  }
  http.body = request.body;
  http.response_handler = [&](const httplib::Response& response) {
    result.code = response.status;
    last_byte = absl::Now();
    return !hold_.aborted();
  };
  http.content_receiver = [&](const char* bytes, size_t n, uint64_t, uint64_t) {
    last_byte = absl::Now();
    if (request.on_bytes != nullptr && result.code / 100 == 2) {
      request.on_bytes({bytes, n});
    } else {
      result.body.append(bytes, n);
    }
    return !hold_.aborted() && last_byte - start < request.deadline;
  };
  client_->set_read_timeout(
      absl::ToChronoMicroseconds(std::min(request.silence, request.deadline)));
  client_->set_write_timeout(
      absl::ToChronoMicroseconds(std::min(request.silence, request.deadline)));

  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  if (!client_->send(http, response, error)) {
    return Explain(error, request, start, last_byte);
  }
  result.code = response.status;
  result.retry_after = RetryAfter(response);
  return result;
}

HttpConnection::HttpConnection(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
HttpConnection::~HttpConnection() = default;

absl::StatusOr<std::unique_ptr<HttpConnection>> HttpConnection::Create(
    const ServerAddress& address, const TlsIdentity& tls) {
  auto impl = std::make_unique<Impl>(address, tls);
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<HttpConnection>(new HttpConnection(std::move(impl)));
}

const TlsIdentity& HttpConnection::tls() const { return impl_->tls(); }

absl::StatusOr<HttpResponse> HttpConnection::Send(const HttpRequest& request) {
  return impl_->Send(request);
}

void HttpConnection::Abort() { impl_->Abort(); }

}  // namespace dynatrain::control
