#include "operator/health_server.h"

#include <atomic>

#include "gtest/gtest.h"
#include "operator/kube/http_connection.h"

namespace dynatrain::control {
namespace {

int Get(int port, const std::string& path) {
  const auto connection = HttpConnection::Create(
      {.tls = false, .host = "127.0.0.1", .port = port}, {});
  return (*connection)->Send({.method = "GET", .target = path})->code;
}

TEST(HealthServerTest, AliveAtOnceReadyWhenAsked) {
  std::atomic<bool> ready = false;
  const auto server =
      HealthServer::Start("127.0.0.1:0", [&] { return ready.load(); });
  ASSERT_TRUE(server.ok()) << server.status();
  const int port = (*server)->port();
  EXPECT_EQ(Get(port, "/healthz"), 200);
  EXPECT_EQ(Get(port, "/readyz"), 503);
  ready = true;
  EXPECT_EQ(Get(port, "/readyz"), 200);
  EXPECT_EQ(Get(port, "/else"), 404);
}

TEST(HealthServerTest, RefusesBadAddresses) {
  for (const char* bad : {"", "8081", ":", ":x", ":70000"}) {
    EXPECT_EQ(HealthServer::Start(bad, [] { return true; }).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace dynatrain::control
