#include "operator/health_server.h"

#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "httplib.h"

namespace dynatrain::control {

class HealthServer::Impl {
 public:
  explicit Impl(std::function<bool()> ready) {
    // One thread is enough for probes.
    server_.new_task_queue = [] { return new httplib::ThreadPool(1); };
    server_.Get("/healthz",
                [](const httplib::Request&, httplib::Response& response) {
                  response.set_content("ok\n", "text/plain");
                });
    server_.Get("/readyz", [ready = std::move(ready)](
                               const httplib::Request&,
                               httplib::Response& response) {
      const bool is_ready = ready();
      response.status = is_ready ? 200 : 503;
      response.set_content(is_ready ? "ok\n" : "jobs and pods not listed yet\n",
                           "text/plain");
    });
  }

  ~Impl() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen(const std::string& address) {
    const size_t colon = address.rfind(':');
    int port = -1;
    if (colon == std::string::npos ||
        !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 ||
        port > 65535) {
      return absl::InvalidArgumentError(
          absl::StrCat("health address \"", address,
                       "\" should look like :8081 or 127.0.0.1:8081"));
    }
    const std::string host = colon == 0 ? "0.0.0.0" : address.substr(0, colon);
    if (port == 0) {
      port = server_.bind_to_any_port(host.c_str());
    } else if (!server_.bind_to_port(host.c_str(), port)) {
      port = -1;
    }
    if (port < 0) {
      return absl::UnavailableError(absl::StrCat("can't listen on ", address));
    }
    port_ = port;
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // stop() before the loop runs would be lost.
    while (!server_.is_running()) std::this_thread::yield();
    return absl::OkStatus();
  }

  int port() const { return port_; }

 private:
  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
};

HealthServer::HealthServer(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
HealthServer::~HealthServer() = default;
int HealthServer::port() const { return impl_->port(); }

absl::StatusOr<std::unique_ptr<HealthServer>> HealthServer::Start(
    const std::string& address, std::function<bool()> ready) {
  auto impl = std::make_unique<Impl>(std::move(ready));
  const absl::Status status = impl->Listen(address);
  if (!status.ok()) return status;
  return std::unique_ptr<HealthServer>(new HealthServer(std::move(impl)));
}

}  // namespace dynatrain::control
