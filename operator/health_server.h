// /healthz (the process lives) and /readyz (jobs and pods have been listed).
#ifndef OPERATOR_HEALTH_SERVER_H_
#define OPERATOR_HEALTH_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace dynatrain::control {

class HealthServer {
 public:
  // Listens on `address`, "host:port" or ":port"; port 0 takes a free one.
  // `ready` is asked on a thread of the server.
  static absl::StatusOr<std::unique_ptr<HealthServer>> Start(
      const std::string& address, std::function<bool()> ready);
  ~HealthServer();

  int port() const;

 private:
  class Impl;
  explicit HealthServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_HEALTH_SERVER_H_
