// The API server's refusals as absl::Status.
//
// A refusal is an HTTP code and, most times, a JSON object of kind Status with
// a reason ("Conflict") that is finer than the code. A proxy on the way may
// answer in HTML instead. The code of the result says what to do:
//
// clang-format off
//   reason                               code                what to do
//   NotFound                             kNotFound           see what's gone
//   AlreadyExists                        kAlreadyExists      adopt if ours
//   Conflict                             kAborted            read again
//   Gone, Expired                        kOutOfRange         list again
//   Invalid, BadRequest                  kInvalidArgument    tell the user
//   Forbidden                            kPermissionDenied   tell the user
//   Unauthorized                         kUnauthenticated    read the token
//   TooManyRequests                      kResourceExhausted  wait
//   ServerTimeout, Timeout, unavailable  kUnavailable        try again
//   everything else                      kInternal, kUnknown back off
// clang-format on
#ifndef OPERATOR_KUBE_API_ERROR_H_
#define OPERATOR_KUBE_API_ERROR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "operator/kube/json.h"

namespace dynatrain::control {

struct ApiError {
  struct Cause {
    std::string reason;
    std::string field;
    std::string message;
    bool operator==(const Cause&) const = default;
  };

  int http_code = 0;
  std::string reason;  // "Conflict"; empty if the answer was no Status
  std::string message;
  std::vector<Cause> causes;
  // From the Retry-After header or details.retryAfterSeconds.
  std::optional<absl::Duration> retry_after;

  // The server has not seen the resourceVersion that we ask for yet.
  bool IsResourceVersionTooLarge() const;
  // The namespace is being deleted: nothing can be created in it any more.
  bool IsNamespaceTerminating() const;
};

// The error of an answer with `http_code` >= 300. `body` may be anything.
absl::Status ToStatus(int http_code, absl::string_view body,
                      std::optional<absl::Duration> retry_after);

// The error of a Status object inside a watch stream (HTTP 200).
absl::Status ToStatus(const Json& status_object);

// What ToStatus stored in `status`; nothing for errors of another origin.
std::optional<ApiError> GetApiError(const absl::Status& status);

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_API_ERROR_H_
