#include <thread>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/kube/http_client.h"
#include "tests/kube/fake_api_server.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json Pod(const std::string& name, const std::string& version = "5") {
  return {{"metadata", {{"name", name}, {"resourceVersion", version}}}};
}

class WatchTest : public ::testing::Test {
 protected:
  WatchTest() {
    CredentialSources sources;
    sources.address = server_.address();
    client_ = std::make_unique<HttpKubeClient>(
        std::make_shared<Credentials>(sources));
  }

  absl::Status Watch(absl::Duration silence = absl::Seconds(10),
                     std::stop_token stop = {}) {
    return client_->Watch(
        Pods(), {.ns = "n"},
        {.resource_version = "5",
         .server_timeout = absl::Seconds(300),
         .silence_timeout = silence},
        [&](WatchEvent event) { names_.push_back(NameOf(event.object)); },
        stop);
  }

  FakeApiServer server_;
  std::unique_ptr<HttpKubeClient> client_;
  std::vector<std::string> names_;
};

TEST_F(WatchTest, AsksForBookmarksFromTheVersion) {
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("a"));
    x.EndStream();
  });
  EXPECT_TRUE(Watch().ok());
  EXPECT_THAT(names_, ElementsAre("a"));
  EXPECT_EQ(server_.requests()[0].target,
            "/api/v1/namespaces/n/pods?watch=1&allowWatchBookmarks=true&"
            "resourceVersion=5&timeoutSeconds=300");
}

TEST_F(WatchTest, ChunkBordersMeanNothing) {
  server_.OnWatch([](FakeExchange& x) {
    const std::string both =
        Json({{"type", "ADDED"}, {"object", Pod("a")}}).dump() +
        Json({{"type", "DELETED"}, {"object", Pod("b")}}).dump();
    x.StartStream();
    for (const char c : both.substr(0, 40)) x.Chunk(std::string(1, c));
    x.Chunk(both.substr(40));
    x.EndStream();
  });
  EXPECT_TRUE(Watch().ok());
  EXPECT_THAT(names_, ElementsAre("a", "b"));
}

TEST_F(WatchTest, AnErrorFrameInsideA200IsTheResult) {
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("a"));
    x.Event("ERROR", {{"kind", "Status"},
                      {"code", 410},
                      {"reason", "Expired"},
                      {"message", "too old resource version"}});
    x.Event("ADDED", Pod("never delivered"));
    x.EndStream();
  });
  EXPECT_TRUE(absl::IsOutOfRange(Watch()));
  EXPECT_THAT(names_, ElementsAre("a"));
}

TEST_F(WatchTest, A410InPlaceOfAStreamIsTheSame) {
  server_.OnWatch([](FakeExchange& x) {
    x.RespondJson(410, {{"kind", "Status"}, {"reason", "Gone"}});
  });
  EXPECT_TRUE(absl::IsOutOfRange(Watch()));
}

TEST_F(WatchTest, RubbishInTheStreamIsAnError) {
  for (const std::string rubbish :
       {"<html>", "{\"type\":\"NEW\",\"object\":{}}", "{\"type\":\"ADDED\"}",
        "{]}"}) {
    FakeApiServer server;
    CredentialSources sources;
    sources.address = server.address();
    client_ = std::make_unique<HttpKubeClient>(
        std::make_shared<Credentials>(sources));
    server.OnWatch([=](FakeExchange& x) {
      x.StartStream();
      x.Chunk(rubbish);
      x.EndStream();
    });
    EXPECT_FALSE(Watch().ok()) << rubbish;
    EXPECT_THAT(names_, IsEmpty());
  }
}

TEST_F(WatchTest, SilenceIsItsOwnError) {
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("a"));
    x.StaySilent();
  });
  const absl::Status status = Watch(absl::Milliseconds(150));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no byte for"));
  EXPECT_THAT(names_, ElementsAre("a"));
}

TEST_F(WatchTest, AResetIsUnavailable) {
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("a"));
    x.Reset();
  });
  EXPECT_TRUE(absl::IsUnavailable(Watch()));
}

TEST_F(WatchTest, AStopRequestEndsASilentWatchAtOnce) {
  server_.OnWatch([](FakeExchange& x) { x.StaySilent(); });
  std::stop_source stop;
  absl::Status status;
  std::thread watch(
      [&] { status = Watch(absl::Seconds(60), stop.get_token()); });
  ASSERT_TRUE(server_.WaitForRequests(1, absl::Seconds(5)));
  const absl::Time start = absl::Now();
  stop.request_stop();
  watch.join();
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
  EXPECT_TRUE(absl::IsCancelled(status));
}

TEST_F(WatchTest, AStopRequestedBeforeIsKept) {
  server_.OnWatch([](FakeExchange& x) { x.StaySilent(); });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(Watch(absl::Seconds(60), stop.get_token())));
}

}  // namespace
}  // namespace dynatrain::control
