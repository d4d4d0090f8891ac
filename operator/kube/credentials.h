// Where the API server is and what it lets us in by.
//
// In a pod the token and the CA lie in files that the kubelet replaces while
// we run (rotation at 80 % of the token's life); so they are read again at most
// once a minute, and at once after the server refused a token. Files are opened
// anew each time: the kubelet swaps symbolic links.
#ifndef OPERATOR_KUBE_CREDENTIALS_H_
#define OPERATOR_KUBE_CREDENTIALS_H_

#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace dynatrain::control {

struct ServerAddress {
  bool tls = true;
  std::string host;  // IPv6 without brackets
  int port = 443;
  bool operator==(const ServerAddress&) const = default;

  // Reads "https://host[:port]"; a path after it is refused.
  static absl::StatusOr<ServerAddress> Parse(absl::string_view url);
};

// PEM texts. A connection lives only as long as these stay the same.
struct TlsIdentity {
  std::string ca;  // empty: the system's
  std::string certificate;
  std::string key;
  bool insecure = false;  // don't ask who the server is: for development
  bool operator==(const TlsIdentity&) const = default;
};

struct Access {
  std::string token;  // empty: none
  TlsIdentity tls;
};

// A text that is given or lies in a file.
struct Source {
  std::string text;
  std::string path;  // used if text is empty

  // The text; "" if neither is given.
  absl::StatusOr<std::string> Read() const;
};

struct CredentialSources {
  ServerAddress address;
  Source token, ca, certificate, key;
  bool insecure = false;
  std::string default_namespace = "default";
};

// Of the pod that this process runs in. `root` is where the kubelet mounts the
// service account. kNotFound if this is no pod.
absl::StatusOr<CredentialSources> InClusterSources(
    const std::string& root = "/var/run/secrets/kubernetes.io/serviceaccount");

// Thread-safe.
class Credentials {
 public:
  static constexpr absl::Duration kReadPeriod = absl::Minutes(1);

  explicit Credentials(CredentialSources sources,
                       std::function<absl::Time()> now = absl::Now)
      : sources_(std::move(sources)), now_(std::move(now)) {}

  const ServerAddress& address() const { return sources_.address; }
  const std::string& default_namespace() const {
    return sources_.default_namespace;
  }

  // What to use for the next request. If a file can't be read while something
  // was read before, that is used on.
  absl::StatusOr<Access> Current();

  // The server refused `token`: the next Current() reads again, unless that
  // has happened already.
  void Refused(absl::string_view token);

 private:
  absl::StatusOr<Access> Read() const;

  const CredentialSources sources_;
  const std::function<absl::Time()> now_;
  absl::Mutex mutex_;
  Access access_ ABSL_GUARDED_BY(mutex_);
  bool read_once_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time next_read_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_CREDENTIALS_H_
