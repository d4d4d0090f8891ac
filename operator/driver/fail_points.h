// Places at which a fault test can end or stop the operator.
//
// "A place" is just before or after a durable write, or before, amid or after a
// round of messages. In production none is set, and a set one is refused
// unless the operator was started with --allow-failpoints.
//
//   before-write-Committed=kill       SIGKILL to ourselves
//   amid-send-Commit=stop             SIGSTOP: someone else must continue us
//   after-create-pod=kill@/run/once   only if /run/once doesn't exist; makes it
#ifndef OPERATOR_DRIVER_FAIL_POINTS_H_
#define OPERATOR_DRIVER_FAIL_POINTS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dynatrain::control {

// Immutable, so thread-safe.
class FailPoints {
 public:
  FailPoints() = default;
  // kInvalidArgument names the text that is no fail point.
  static absl::StatusOr<FailPoints> Create(
      const std::vector<std::string>& specs);

  bool IsSet(const std::string& name) const { return points_.contains(name); }
  // Does what is set for `name`; nothing in production.
  void Hit(const std::string& name) const;

 private:
  struct Action {
    int signal = 0;
    std::string once_file;  // empty: each time
  };
  std::map<std::string, Action> points_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_FAIL_POINTS_H_
