// PEM texts as OpenSSL objects.
#ifndef OPERATOR_KUBE_PEM_H_
#define OPERATOR_KUBE_PEM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "openssl/evp.h"
#include "openssl/x509.h"

namespace dynatrain::control {

struct X509Free {
  void operator()(X509* x) const { X509_free(x); }
};
struct KeyFree {
  void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); }
};
using Certificate = std::unique_ptr<X509, X509Free>;
using PrivateKey = std::unique_ptr<EVP_PKEY, KeyFree>;

// The first of the text. kInvalidArgument if there is none.
absl::StatusOr<Certificate> ParseCertificate(absl::string_view pem);
absl::StatusOr<PrivateKey> ParsePrivateKey(absl::string_view pem);

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_PEM_H_
