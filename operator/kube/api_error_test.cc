#include "operator/kube/api_error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;

std::string StatusBody(absl::string_view reason, int code) {
  return Json({{"kind", "Status"},
               {"code", code},
               {"reason", std::string(reason)},
               {"message", "because"}})
      .dump();
}

TEST(ApiErrorTest, ReasonDecidesTheCode) {
  using enum absl::StatusCode;
  struct Case {
    const char* reason;
    int http;
    absl::StatusCode want;
  };
  for (const Case& c :
       std::initializer_list<Case>{{"NotFound", 404, kNotFound},
                                   {"AlreadyExists", 409, kAlreadyExists},
                                   {"Conflict", 409, kAborted},
                                   {"Expired", 410, kOutOfRange},
                                   {"Gone", 410, kOutOfRange},
                                   {"Invalid", 422, kInvalidArgument},
                                   {"Forbidden", 403, kPermissionDenied},
                                   {"Unauthorized", 401, kUnauthenticated},
                                   {"TooManyRequests", 429, kResourceExhausted},
                                   {"Timeout", 504, kUnavailable},
                                   {"InternalError", 500, kInternal},
                                   {"ANewReason", 409, kAborted}}) {
    const absl::Status status =
        ToStatus(c.http, StatusBody(c.reason, c.http), std::nullopt);
    EXPECT_EQ(status.code(), c.want) << c.reason;
    EXPECT_EQ(GetApiError(status)->reason, c.reason);
    EXPECT_EQ(GetApiError(status)->http_code, c.http);
    EXPECT_THAT(std::string(status.message()), HasSubstr("because"));
  }
}

TEST(ApiErrorTest, BodiesThatAreNoStatusGoByTheHttpCode) {
  for (const char* body :
       {"<html>bad gateway</html>", "", "null", "{\"kind\":\"Pod\"}", "\xff"}) {
    const absl::Status status = ToStatus(502, body, std::nullopt);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << body;
    EXPECT_EQ(GetApiError(status)->reason, "");
    EXPECT_EQ(GetApiError(status)->http_code, 502);
  }
}

TEST(ApiErrorTest, LongForeignBodiesAreCut) {
  const absl::Status status =
      ToStatus(500, std::string(100000, 'x'), std::nullopt);
  EXPECT_LT(status.message().size(), 400u);
}

TEST(ApiErrorTest, KeepsCausesAndRetryAfter) {
  const Json body = {
      {"kind", "Status"},
      {"code", 504},
      {"reason", "Timeout"},
      {"details",
       {{"retryAfterSeconds", 1},
        {"causes",
         {{{"reason", "ResourceVersionTooLarge"}, {"message", "m"}}}}}}};
  const auto error = GetApiError(ToStatus(504, body.dump(), std::nullopt));
  EXPECT_TRUE(error->IsResourceVersionTooLarge());
  EXPECT_EQ(error->retry_after, absl::Seconds(1));
  EXPECT_EQ(GetApiError(ToStatus(429, "", absl::Seconds(7)))->retry_after,
            absl::Seconds(7));
}

TEST(ApiErrorTest, KnowsANamespaceThatIsBeingDeleted) {
  const Json body = {
      {"kind", "Status"},
      {"code", 403},
      {"reason", "Forbidden"},
      {"message", "unable to create new content in namespace t1"},
      {"details",
       {{"causes", {{{"reason", "NamespaceTerminating"}, {"message", "m"}}}}}}};
  const absl::Status status = ToStatus(403, body.dump(), std::nullopt);
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_TRUE(GetApiError(status)->IsNamespaceTerminating());
  const absl::Status other =
      ToStatus(403, R"({"kind":"Status","reason":"Forbidden"})", std::nullopt);
  EXPECT_FALSE(GetApiError(other)->IsNamespaceTerminating());
}

TEST(ApiErrorTest, OtherErrorsHaveNone) {
  EXPECT_FALSE(GetApiError(absl::UnavailableError("no route")).has_value());
  EXPECT_FALSE(GetApiError(absl::OkStatus()).has_value());
}

}  // namespace
}  // namespace dynatrain::control
