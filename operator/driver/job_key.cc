#include "operator/driver/job_key.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "openssl/evp.h"
#include "openssl/hmac.h"
#include "operator/kube/credentials.h"

namespace dynatrain::control {

absl::StatusOr<JobKeys> JobKeys::Create(std::string root_secret) {
  if (root_secret.size() < kMinSecretBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the root secret has ", root_secret.size(),
                     " bytes; it should have at least ", kMinSecretBytes));
  }
  return JobKeys(std::move(root_secret));
}

absl::StatusOr<JobKeys> JobKeys::FromFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::string secret, (Source{.path = path}.Read()),
                   "root secret");
  return Create(std::move(secret));
}

std::string JobKeys::KeyOf(absl::string_view job_uid) const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
       reinterpret_cast<const unsigned char*>(job_uid.data()), job_uid.size(),
       digest, &size);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace dynatrain::control
