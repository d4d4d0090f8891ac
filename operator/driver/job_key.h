// The key that the agents and ranks of one job know each other by.
#ifndef OPERATOR_DRIVER_JOB_KEY_H_
#define OPERATOR_DRIVER_JOB_KEY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::control {

// Derives each job's key from one secret, so that none has to be stored.
class JobKeys {
 public:
  static constexpr size_t kMinSecretBytes = 16;

  // Reads the root secret. kInvalidArgument if it has fewer bytes than
  // kMinSecretBytes, kUnavailable if it can't be read.
  static absl::StatusOr<JobKeys> FromFile(const std::string& path);
  static absl::StatusOr<JobKeys> Create(std::string root_secret);

  // HMAC-SHA256(root secret, uid) in hex: 64 digits.
  std::string KeyOf(absl::string_view job_uid) const;

 private:
  explicit JobKeys(std::string root_secret) : secret_(std::move(root_secret)) {}
  std::string secret_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_JOB_KEY_H_
