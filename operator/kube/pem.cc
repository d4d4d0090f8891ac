#include "operator/kube/pem.h"

#include "openssl/bio.h"
#include "openssl/err.h"
#include "openssl/pem.h"

namespace dynatrain::control {
namespace {

struct BioFree {
  void operator()(BIO* b) const { BIO_free(b); }
};

std::unique_ptr<BIO, BioFree> Open(absl::string_view text) {
  return std::unique_ptr<BIO, BioFree>(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

absl::StatusOr<Certificate> ParseCertificate(absl::string_view pem) {
  Certificate certificate(
      PEM_read_bio_X509(Open(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate == nullptr) {
    return absl::InvalidArgumentError("no PEM certificate in the text");
  }
  return certificate;
}

absl::StatusOr<PrivateKey> ParsePrivateKey(absl::string_view pem) {
  PrivateKey key(
      PEM_read_bio_PrivateKey(Open(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    return absl::InvalidArgumentError("no PEM private key in the text");
  }
  return key;
}

}  // namespace dynatrain::control
