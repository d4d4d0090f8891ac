// One HTTP/1.1 connection to the API server, kept alive between requests.
//
// Hides cpp-httplib, which blocks: a request ends by its answer, by a time-out
// or by Abort() from another thread.
#ifndef OPERATOR_KUBE_HTTP_CONNECTION_H_
#define OPERATOR_KUBE_HTTP_CONNECTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "operator/kube/credentials.h"

namespace dynatrain::control {

struct HttpRequest {
  std::string method;
  std::string target;  // path and query
  std::string token;   // empty: none
  std::string content_type;
  std::string body;
  // The whole exchange takes at most this.
  absl::Duration deadline = absl::Seconds(30);
  // So long without a byte means that the peer is gone.
  absl::Duration silence = absl::Seconds(30);
  // If set, gets the body of a 2xx answer as it comes; else it is collected.
  std::function<void(absl::string_view)> on_bytes;
};

struct HttpResponse {
  int code = 0;
  std::string body;
  std::optional<absl::Duration> retry_after;  // the header, if in seconds
};

class HttpConnection {
 public:
  // Doesn't connect yet. kInvalidArgument if a PEM text is none.
  static absl::StatusOr<std::unique_ptr<HttpConnection>> Create(
      const ServerAddress& address, const TlsIdentity& tls);
  ~HttpConnection();

  const TlsIdentity& tls() const;

  // One request at a time. kUnavailable if there is no connection or it broke,
  // kDeadlineExceeded, kCancelled after Abort(). The connection can be used
  // again after any of them but Abort().
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request);

  // Ends the running and every later request soon. From any thread.
  void Abort();

 private:
  class Impl;
  explicit HttpConnection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_HTTP_CONNECTION_H_
