#include "operator/kube/api_error.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::control {
namespace {

constexpr absl::string_view kPayload = "dynatrain.io/kube-status";
// Of an answer that is no Status: enough to see who said it.
constexpr size_t kMaxForeignBytes = 200;

absl::StatusCode CodeOfReason(absl::string_view reason) {
  struct Row {
    absl::string_view reason;
    absl::StatusCode code;
  };
  using enum absl::StatusCode;
  static constexpr Row kRows[] = {
      {"NotFound", kNotFound},
      {"AlreadyExists", kAlreadyExists},
      {"Conflict", kAborted},
      {"Gone", kOutOfRange},
      {"Expired", kOutOfRange},
      {"Invalid", kInvalidArgument},
      {"BadRequest", kInvalidArgument},
      {"Forbidden", kPermissionDenied},
      {"Unauthorized", kUnauthenticated},
      {"TooManyRequests", kResourceExhausted},
      {"ServerTimeout", kUnavailable},
      {"Timeout", kUnavailable},
      {"ServiceUnavailable", kUnavailable},
      {"InternalError", kInternal},
      {"NamespaceTerminating", kPermissionDenied},
      {"MethodNotAllowed", kUnimplemented},
      {"NotAcceptable", kUnimplemented},
      {"UnsupportedMediaType", kUnimplemented},
      {"RequestEntityTooLarge", kInvalidArgument},
  };
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [&](const Row& r) { return r.reason == reason; });
  return row == std::end(kRows) ? kUnknown : row->code;
}

absl::StatusCode CodeOfHttp(int http_code) {
  using enum absl::StatusCode;
  switch (http_code) {
    case 400:
    case 413:
    case 422:
      return kInvalidArgument;
    case 401:
      return kUnauthenticated;
    case 403:
      return kPermissionDenied;
    case 404:
      return kNotFound;
    case 405:
    case 406:
    case 415:
      return kUnimplemented;
    case 409:
      return kAborted;
    case 410:
      return kOutOfRange;
    case 429:
      return kResourceExhausted;
    case 502:
    case 503:
    case 504:
      return kUnavailable;
    default:
      return http_code >= 500 ? kInternal : kUnknown;
  }
}

std::vector<ApiError::Cause> CausesOf(const Json& status) {
  std::vector<ApiError::Cause> causes;
  const Json& list = At(status, "/details/causes");
  if (!list.is_array()) return causes;
  for (const Json& cause : list) {
    causes.push_back({TextAt(cause, "/reason"), TextAt(cause, "/field"),
                      TextAt(cause, "/message")});
  }
  return causes;
}

bool HasCause(const std::vector<ApiError::Cause>& causes,
              absl::string_view reason) {
  return std::any_of(causes.begin(), causes.end(),
                     [&](const auto& cause) { return cause.reason == reason; });
}

// Our own text form, so that a Status can be copied about freely.
Json Encode(const ApiError& error) {
  Json causes = Json::array();
  for (const ApiError::Cause& cause : error.causes) {
    causes.push_back({{"reason", cause.reason},
                      {"field", cause.field},
                      {"message", cause.message}});
  }
  Json json = {{"code", error.http_code},
               {"reason", error.reason},
               {"message", error.message},
               {"details", {{"causes", causes}}}};
  if (error.retry_after.has_value()) {
    json["details"]["retryAfterMs"] =
        absl::ToInt64Milliseconds(*error.retry_after);
  }
  return json;
}

absl::Status Make(const ApiError& error) {
  absl::StatusCode code = CodeOfReason(error.reason);
  if (code == absl::StatusCode::kUnknown) code = CodeOfHttp(error.http_code);
  const std::string name = error.reason.empty()
                               ? absl::StrCat("HTTP ", error.http_code)
                               : error.reason;
  absl::Status status(code, absl::StrCat(name, ": ", error.message));
  // Replaces what isn't UTF-8: a message from outside must not throw here.
  status.SetPayload(
      kPayload, absl::Cord(Encode(error).dump(-1, ' ', false,
                                              Json::error_handler_t::replace)));
  return status;
}

ApiError FromStatusObject(const Json& status, int http_code) {
  ApiError error;
  error.http_code = static_cast<int>(NumberAt(status, "/code", http_code));
  error.reason = TextAt(status, "/reason");
  error.message = TextAt(status, "/message", "(no message)");
  error.causes = CausesOf(status);
  const int64_t seconds = NumberAt(status, "/details/retryAfterSeconds");
  if (seconds > 0) error.retry_after = absl::Seconds(seconds);
  return error;
}

}  // namespace

bool ApiError::IsResourceVersionTooLarge() const {
  return HasCause(causes, "ResourceVersionTooLarge");
}

bool ApiError::IsNamespaceTerminating() const {
  return reason == "NamespaceTerminating" ||
         HasCause(causes, "NamespaceTerminating");
}

absl::Status ToStatus(int http_code, absl::string_view body,
                      std::optional<absl::Duration> retry_after) {
  const Json json = Json::parse(body.begin(), body.end(), nullptr,
                                /*allow_exceptions=*/false);
  ApiError error;
  if (TextAt(json, "/kind") == "Status") {
    error = FromStatusObject(json, http_code);
  } else {
    error.http_code = http_code;
    error.message = absl::StrCat("an answer that is no Kubernetes Status: ",
                                 body.substr(0, kMaxForeignBytes));
  }
  if (retry_after.has_value()) error.retry_after = retry_after;
  return Make(error);
}

absl::Status ToStatus(const Json& status_object) {
  return Make(FromStatusObject(status_object, /*http_code=*/500));
}

std::optional<ApiError> GetApiError(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const Json json = Json::parse(std::string(*payload), nullptr,
                                /*allow_exceptions=*/false);
  ApiError error = FromStatusObject(json, 0);
  const int64_t ms = NumberAt(json, "/details/retryAfterMs", -1);
  if (ms >= 0) error.retry_after = absl::Milliseconds(ms);
  return error;
}

}  // namespace dynatrain::control
